import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { startJob } from '../../base/concurrency/background-job.ts'
import { ConfigError } from '../../base/config/config.ts'
import type { Log } from '../../base/observability/log.ts'
import { createCertificateStore } from './certificate-store.ts'
import { CertificateError, readCertificate } from './pem.ts'
import type { Certificate, Certificates } from './port.ts'

export interface CertificateFilesOptions {
  readonly certFile: string
  readonly keyFile: string
  readonly log: Log
  /** {@link certificateFilesIntervalMs} unless given. */
  readonly intervalMs?: number
}

/** How often the files are read again, in milliseconds. */
export const certificateFilesIntervalMs = 10_000

/**
 * The certificate in two files, read again and again: by what they hold, since certbot and Kubernetes change links and not
 * files. What is broken, half written or expired is not taken up while there is a better one.
 * @throws ConfigError when the first reading gives no certificate; an expired one is taken then.
 */
export function fileCertificates({
  certFile,
  keyFile,
  log,
  intervalMs = certificateFilesIntervalMs,
}: CertificateFilesOptions): Certificates {
  const first = readFirst(certFile, keyFile)
  const held = createCertificateStore([first])
  let seen = first.chain + first.privateKey
  let trouble: string | null = null

  function take(chain: string, privateKey: string): void {
    const certificate = readCertificate(chain, privateKey)
    const [last = first] = held.current
    const now = Date.now()
    if (certificate.notAfter.getTime() <= now && last.notAfter.getTime() > now)
      throw new CertificateError(`the certificate expired at ${certificate.notAfter.toISOString()}`)
    trouble = null
    if (chain === last.chain && privateKey === last.privateKey) return
    held.replace([certificate])
    log.info({ names: certificate.names, not_after: certificate.notAfter }, 'took up another certificate')
  }

  function complain(why: string): void {
    if (trouble === why) return
    trouble = why
    log.warn({ cert: certFile, key: keyFile, reason: why }, 'kept the certificate: the files hold no better one')
  }

  async function look(): Promise<void> {
    try {
      const [chain, privateKey] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
      if (chain + privateKey === seen && trouble === null) return
      take(chain, privateKey)
      seen = chain + privateKey
    } catch (error) {
      complain((error as Error).message)
    }
  }

  const rounds = startJob({ name: 'certificate-files', intervalMs, log }, async () => {
    await look()
    return 'done'
  })
  return {
    current: () => held.current,
    states: () =>
      held.current.map(({ names, notAfter }) => ({
        name: names[0] ?? certFile,
        isOurs: true,
        notAfter,
        lastError: trouble,
      })),
    onChange: held.onChange,
    stop: () => rounds.stop(),
  }
}

function readFirst(certFile: string, keyFile: string): Certificate {
  try {
    return readCertificate(readFileSync(certFile, 'utf8'), readFileSync(keyFile, 'utf8'))
  } catch (error) {
    throw new ConfigError(
      `MAILROOM_TLS_CERT is "${certFile}" and MAILROOM_TLS_KEY is "${keyFile}": ${(error as Error).message}.`,
    )
  }
}
