import { afterEach, beforeEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { type PrivateClamd, startClamd } from '../../src/cli/private/clamd.ts'
import { startMariadb } from '../../src/cli/private/mariadb.ts'
import { isAlive, type PrivateServer } from '../../src/cli/private/process.ts'
import { until } from '../harness/until.ts'
import { temporaryFolder } from '../harness/up.ts'

let folder: ReturnType<typeof temporaryFolder>
const started: PrivateServer[] = []

beforeEach(() => {
  folder = temporaryFolder()
})

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
  folder.remove()
})

function track<Server extends PrivateServer>(server: Server): Server {
  started.push(server)
  return server
}

const mariadb = async () => track(await startMariadb({ folder: join(folder.path, 'mariadb') }))
const clamd = async (path = 'clamd') => track(await startClamd({ folder: join(folder.path, path) }))

async function killHard(server: PrivateServer): Promise<void> {
  process.kill(server.pid, 'SIGKILL')
  await until(() => !isAlive(server.pid))
}

async function ask(url: string, statement: string): Promise<unknown> {
  const connection = await createConnection(url)
  try {
    return (await connection.query(statement))[0]
  } finally {
    await connection.end()
  }
}

test('MariaDB syncs its log and its binary log at each commit', async () => {
  const { url } = await mariadb()
  expect(
    await ask(url, 'SELECT @@log_bin AS binlog, @@sync_binlog AS sync, @@innodb_flush_log_at_trx_commit AS flush'),
  ).toEqual([{ binlog: 1, sync: 1, flush: 1 }])
})

test('MariaDB writes stored bytes to its binary log once, without a temporary file', async () => {
  const { url } = await mariadb()
  const connection = await createConnection(url)
  const numberFrom = async (statement: string, column: string) => {
    const [rows] = (await connection.query(statement)) as unknown as [Record<string, unknown>[]]
    return Number(rows.at(-1)?.[column])
  }
  try {
    await connection.query('CREATE TABLE stored (bytes MEDIUMBLOB) ENGINE=InnoDB')
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
    const before = await numberFrom('SHOW MASTER STATUS', 'Position')
    const bytes = randomBytes(2 * 1024 * 1024)
    await connection.execute('INSERT INTO stored VALUES (?)', [bytes])
    const written = (await numberFrom('SHOW MASTER STATUS', 'Position')) - before
    expect(written).toBeGreaterThan(bytes.length)
    expect(written).toBeLessThan(1.1 * bytes.length)
    expect(await numberFrom("SHOW GLOBAL STATUS LIKE 'Binlog_cache_disk_use'", 'Value')).toBe(0)
  } finally {
    await connection.end()
  }
})

test('MariaDB restarts after kill -9 at the same address, with everything that was committed', async () => {
  const first = await mariadb()
  await ask(first.url, 'CREATE TABLE kept (value INT PRIMARY KEY)')
  await ask(first.url, 'INSERT INTO kept VALUES (42)')
  await killHard(first)
  const second = await mariadb()
  expect(second.url).toBe(first.url)
  expect(await ask(second.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }])
})

test('servers that were left running are reused, and stop when told to', async () => {
  const first = [await mariadb(), await clamd()]
  const second = [await mariadb(), await clamd()]
  expect(second.map(server => server.pid)).toEqual(first.map(server => server.pid))
  for (const server of second) await server.stop()
  expect(first.map(server => isAlive(server.pid))).toEqual([false, false])
})

test('if MariaDB cannot start, the error contains the end of its log', async () => {
  const first = await mariadb()
  await first.stop()
  await Bun.write(join(folder.path, 'mariadb/data/ibdata1'), 'no tablespace')
  await expect(mariadb()).rejects.toThrow(/MariaDB did not start\. The end of .*\/log:\n[\s\S]*ibdata1/)
})

function scan({ address }: PrivateClamd, bytes: Buffer): Promise<string> {
  const [kind, ...rest] = address.split(':')
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return new Promise((done, fail) => {
    const socket = kind === 'unix' ? connect(rest.join(':')) : connect(Number(rest[1]), rest[0])
    let answer = ''
    socket.on('data', chunk => {
      answer += chunk.toString()
    })
    socket.on('error', fail).on('close', () => done(answer.replaceAll('\0', '')))
    socket.write(Buffer.concat([Buffer.from('zINSTREAM\0'), length, bytes, Buffer.alloc(4)]))
  })
}

// In two parts, so that a virus scanner on this machine does not detect this file.
const eicar = Buffer.from(`X5O!P%@AP[4\\PZX54(P^)7CC)7}$${'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'}`)

test('clamd detects EICAR, and accepts a message of 64 MiB', async () => {
  const server = await clamd()
  expect(await scan(server, eicar)).toBe('stream: Eicar-Test-Signature.UNOFFICIAL FOUND')
  expect(await scan(server, Buffer.alloc(64 * 1024 * 1024, 'a'))).toBe('stream: OK')
})

test('clamd listens on a TCP port if the path is too long for a Unix socket', async () => {
  const deep = join('x'.repeat(90), 'clamd')
  mkdirSync(join(folder.path, deep), { recursive: true })
  chmodSync(folder.path, 0o755)
  const server = await clamd(deep)
  expect(server.address).toMatch(/^tcp:127\.0\.0\.1:\d+$/)
  expect(await scan(server, Buffer.from('hello'))).toBe('stream: OK')
})

/** Where a private clamd unpacks what it scans. */
function workFolderOf(path: string): string {
  const config = readFileSync(join(folder.path, path, 'clamd.conf'), 'utf8')
  return /^TemporaryDirectory (.*)$/m.exec(config)?.[1] ?? ''
}

test.if(existsSync('/dev/shm'))(
  'the next start removes what killed clamds left in memory, and nothing of running or unknown processes',
  async () => {
    const [killed, running] = [await clamd('killed'), await clamd('running')]
    const left = workFolderOf('killed')
    const used = workFolderOf('running')
    writeFileSync(join(left, 'unpacked'), 'half of a message')
    await killHard(killed)
    const unknown = join(dirname(left), `mailroom-clamd-${randomBytes(6).toString('hex')}`)
    const elsewhere = join(dirname(left), `mailroom-clamd-${randomBytes(6).toString('hex')}`)
    mkdirSync(unknown, { recursive: true })
    mkdirSync(elsewhere, { recursive: true })
    writeFileSync(join(elsewhere, 'owner.json'), JSON.stringify({ pid: killed.pid, processes: 'pid:[1]' }))
    const strange = join(dirname(left), `mailroom-clamd-${randomBytes(6).toString('hex')}`)
    symlinkSync(folder.path, strange)
    try {
      await clamd('next')
      expect([left, used, unknown, elsewhere, strange].map(value => existsSync(value))).toEqual([
        false,
        true,
        true,
        true,
        true,
      ])
      expect(await scan(running, eicar)).toContain('FOUND')
      expect(existsSync(join(folder.path, 'running', 'pid'))).toBe(true)
    } finally {
      rmSync(unknown, { recursive: true })
      rmSync(elsewhere, { recursive: true })
      rmSync(strange)
    }
  },
)
