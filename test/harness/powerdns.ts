import { Database } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '../../src/base/config/config.ts'
import { findProgram, freePort, startProcess, stopProcess, waitUntilReady } from '../../src/cli/private/process.ts'

/** A real PowerDNS authoritative server on 127.0.0.1, with its records in SQLite. */
export interface PowerDns {
  /** The URL of its HTTP API. */
  readonly url: string
  readonly key: string
  /** Where it serves DNS. */
  readonly endpoint: Endpoint
  /** Creates an empty zone. */
  addZone(name: string, kind?: 'Native' | 'Slave'): Promise<void>
  /** Calls its API without our adapter. The path begins after `/servers/localhost`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  ask(method: string, path: string, body?: object): Promise<any>
  /** Replaces a record set without our adapter; an empty one is deleted. */
  put(zone: string, name: string, type: string, contents: readonly string[], more?: object): Promise<void>
  stop(): Promise<void>
}

const schema = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'

export async function startPowerDns(): Promise<PowerDns> {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-powerdns-'))
  const [database, log] = [join(folder, 'zones.sqlite3'), join(folder, 'log')]
  const storage = new Database(database, { create: true })
  storage.run(readFileSync(schema, 'utf8'))
  storage.close()
  writeFileSync(log, '')
  const [dnsPort, apiPort, key] = [freePort(), freePort(), `key-${crypto.randomUUID()}`]
  writeFileSync(join(folder, 'pdns.conf'), settings({ folder, database, dnsPort, apiPort, key }))
  const command = [findProgram('pdns_server', 'pdns-server'), `--config-dir=${folder}`]
  const pid = startProcess(command, { folder, log })
  const url = `http://127.0.0.1:${apiPort}`

  const ask: PowerDns['ask'] = async (method, path, body) => {
    const response = await fetch(`${url}/api/v1/servers/localhost${path}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const isReady = () =>
    ask('GET', '').then(
      () => true,
      () => false,
    )
  await waitUntilReady({ name: 'PowerDNS', pid, log, timeoutMs: 20_000 }, isReady)
  return {
    url,
    key,
    endpoint: { host: '127.0.0.1', port: dnsPort },
    ask,
    addZone: async (name, kind = 'Native') => {
      const nameservers = kind === 'Native' ? { nameservers: [`ns.${name}.`] } : { masters: ['192.0.2.1'] }
      await ask('POST', '/zones', { name: `${name}.`, kind, ...nameservers })
    },
    put: async (zone, name, type, contents, more = {}) => {
      const records = contents.map(content => ({ content, disabled: false }))
      const change = { name: `${name}.`, type, ttl: 300, changetype: 'REPLACE', records, ...more }
      await ask('PATCH', `/zones/${zone}.`, { rrsets: [change] })
    },
    stop: async () => {
      await stopProcess(pid, 10_000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface PowerDnsSettings {
  readonly folder: string
  readonly database: string
  readonly dnsPort: number
  readonly apiPort: number
  readonly key: string
}

function settings({ folder, database, dnsPort, apiPort, key }: PowerDnsSettings): string {
  const all = {
    launch: 'gsqlite3',
    'gsqlite3-database': database,
    'gsqlite3-pragma-synchronous': '0',
    'local-address': '127.0.0.1',
    'local-port': dnsPort,
    'socket-dir': folder,
    'receiver-threads': 1,
    'distributor-threads': 1,
    webserver: 'yes',
    'webserver-address': '127.0.0.1',
    'webserver-port': apiPort,
    api: 'yes',
    'api-key': key,
    'write-pid': 'no',
  }
  return Object.entries(all)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}
