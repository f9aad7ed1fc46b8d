import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '../../src/base/config/config.ts'
import { findProgram, freePort, startProcess, stopProcess, waitUntilReady } from '../../src/cli/private/process.ts'
import { createTestAuthority } from './certificates.ts'

/** Let's Encrypt's ACME test server on 127.0.0.1. It resolves names at `dns` and validates them at `httpPort`. */
export interface Pebble {
  /** The URL of its ACME directory. */
  readonly directory: string
  /** The file with the root certificate of its HTTPS server. */
  readonly caFile: string
  /** The root certificate of what it issues, in PEM; a new one at each start. */
  issuingRoot(): Promise<string>
  stop(): Promise<void>
}

/**
 * It rejects one nonce in seven (RFC 8555 §6.5): all six tries of the library for a request fail once in 100,000. It does
 * not reuse authorizations.
 */
const environment = { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '15', PEBBLE_AUTHZREUSE: '0' }

export async function startPebble(at: { readonly dns: Endpoint; readonly httpPort: number }): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-pebble-'))
  const file = (name: string) => join(folder, name)
  const root = createTestAuthority()
  const { chain, key } = root.issue(['localhost'])
  root.close()
  writeFileSync(file('ca.pem'), root.root)
  writeFileSync(file('cert.pem'), chain)
  writeFileSync(file('key.pem'), key)
  const [port, managementPort] = [freePort(), freePort()]
  const settings = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: file('cert.pem'),
    privateKey: file('key.pem'),
    httpPort: at.httpPort,
    tlsPort: 1,
  }
  writeFileSync(file('pebble.json'), JSON.stringify({ pebble: settings }))
  writeFileSync(file('log'), '')
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const server = [findProgram('pebble', 'pebble'), '-config', file('pebble.json')]
  const command = ['/usr/bin/env', ...variables, ...server, '-dnsserver', `${at.dns.host}:${at.dns.port}`]
  const pid = startProcess(command, { folder, log: file('log') })
  const directory = `https://localhost:${port}/dir`
  const ask = (url: string) => fetch(url, { tls: { ca: root.root } })
  const isReady = () =>
    ask(directory).then(
      answer => answer.ok,
      () => false,
    )
  await waitUntilReady({ name: 'Pebble', pid, log: file('log'), timeoutMs: 20_000 }, isReady)
  return {
    directory,
    caFile: file('ca.pem'),
    issuingRoot: async () => (await ask(`https://localhost:${managementPort}/roots/0`)).text(),
    stop: async () => {
      await stopProcess(pid, 5000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
