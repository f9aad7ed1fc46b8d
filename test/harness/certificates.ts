import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate chain (the certificate, then the intermediate) and its key, in PEM. */
export interface CertificatePair {
  readonly chain: string
  readonly key: string
}

/** A certificate authority with a root and an intermediate, created with openssl. */
export interface TestAuthority {
  /** The root certificate in PEM. */
  readonly root: string
  /** @param days 0: it expires at once */
  issue(names: readonly string[], days?: number): CertificatePair
  /** Removes its files. */
  close(): void
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

export function createTestAuthority(): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-root-'))
  const file = (name: string) => join(folder, name)
  const read = (name: string) => readFileSync(file(name), 'utf8')
  const sign = (name: string, by: string, days: number, extensions: string) => {
    writeFileSync(file('extensions'), extensions)
    const authority = ['-CA', file(`${by}.crt`), '-CAkey', file(`${by}.key`), '-CAcreateserial']
    const files = ['-in', file(`${name}.csr`), '-out', file(`${name}.crt`), '-extfile', file('extensions')]
    openssl('x509', '-req', ...files, ...authority, '-days', `${days}`)
  }
  const request = (name: string, subject: string) =>
    openssl('req', ...newKey, '-subj', subject, '-keyout', file(`${name}.key`), '-out', file(`${name}.csr`))
  const rootFiles = ['-keyout', file('root.key'), '-out', file('root.crt')]
  openssl('req', '-x509', ...newKey, '-subj', '/CN=Root', '-days', '2', ...rootFiles)
  request('between', '/CN=Between')
  sign('between', 'root', 2, 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign')
  return {
    root: read('root.crt'),
    issue(names, days = 2) {
      request('host', `/CN=${names[0]}`)
      sign('host', 'between', days, `subjectAltName=${names.map(value => `DNS:${value}`).join(',')}`)
      return { chain: read('host.crt') + read('between.crt'), key: read('host.key') }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A self-signed certificate. */
export function selfSigned(names: readonly string[]): CertificatePair {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-self-'))
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  const alternatives = `subjectAltName=${names.map(value => `DNS:${value}`).join(',')}`
  openssl('req', '-x509', ...newKey, '-subj', '/CN=self', '-addext', alternatives, '-keyout', key, '-out', cert)
  const pair = { chain: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  rmSync(folder, { recursive: true })
  return pair
}

function openssl(...args: string[]): void {
  const ran = Bun.spawnSync(['openssl', ...args])
  if (!ran.success) throw new Error(ran.stderr.toString())
}

/** The output of `openssl s_client` for a server on 127.0.0.1. */
export async function runTlsClient(port: number, ...options: readonly string[]): Promise<string> {
  const client = Bun.spawn(['openssl', 's_client', '-connect', `127.0.0.1:${port}`, '-showcerts', ...options], {
    stdin: Buffer.from('Q\n'),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(client.stdout).text(), new Response(client.stderr).text()])
  await client.exited
  return out + err
}
