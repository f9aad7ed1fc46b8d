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
 * The certificate in two files, which are read again at an interval: certbot and Kubernetes replace links, which a file
 * watcher would miss. While there is a good certificate, one that is broken, half written or expired does not replace it.
 * @throws ConfigError when the first reading gives no certificate; an expired one is accepted then
 */
export function fileCertificates({
  certFile,
  keyFile,
  log,
  intervalMs = certificateFilesIntervalMs,
}: CertificateFilesOptions): Certificates {
  const first = readFirst(certFile, keyFile)
  const store = createCertificateStore([first])
  let lastRead = first.chain + first.privateKey
  let lastError: string | null = null

  function replace(chain: string, privateKey: string): void {
    const certificate = readCertificate(chain, privateKey)
    const [current = first] = store.current
    const now = Date.now()
    if (certificate.notAfter.getTime() <= now && current.notAfter.getTime() > now)
      throw new CertificateError(`the certificate expired at ${certificate.notAfter.toISOString()}`)
    lastError = null
    if (chain === current.chain && privateKey === current.privateKey) return
    store.replace([certificate])
    log.info({ names: certificate.names, not_after: certificate.notAfter }, 'loaded a new TLS certificate')
  }

  function reportError(why: string): void {
    if (lastError === why) return
    lastError = why
    log.warn(
      { cert: certFile, key: keyFile, reason: why },
      'could not load the TLS certificate files; the previous certificate stays in use',
    )
  }

  async function readFiles(): Promise<void> {
    try {
      const [chain, privateKey] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
      if (chain + privateKey === lastRead && lastError === null) return
      replace(chain, privateKey)
      lastRead = chain + privateKey
    } catch (error) {
      reportError((error as Error).message)
    }
  }

  const job = startJob({ name: 'certificate-files', intervalMs, log }, async () => {
    await readFiles()
    return 'done'
  })
  return {
    current: () => store.current,
    states: () =>
      store.current.map(({ names, notAfter }) => ({
        name: names[0] ?? certFile,
        isOurs: true,
        notAfter,
        lastError,
      })),
    onChange: store.onChange,
    stop: () => job.stop(),
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
