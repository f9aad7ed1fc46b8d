import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { CommandError } from '../../base/operator-error.ts'
import {
  findProgram,
  freePort,
  type PrivateServer,
  runningPid,
  serviceAccountFor,
  startProcess,
  stopProcess,
  waitUntilReady,
} from './process.ts'

export interface PrivateMariadb extends PrivateServer {
  /** `mysql://mailroom:password@127.0.0.1:port/mailroom`; the account may do everything. */
  readonly url: string
}

/**
 * A MariaDB of our own in `folder`, on a free port of 127.0.0.1, with an empty database `mailroom`; as safe as in
 * production: log and binary log are synced at each commit. What the folder holds from an earlier run is kept, the address
 * too, and a server that an earlier run left running there is taken over.
 */
export async function startMariadb(where: {
  readonly folder: string
  /** With the memory and the redo log of a server that is nothing else's: its pages need not go to the disk meanwhile. */
  readonly forMeasuring?: boolean
  /** Options of mariadbd beside ours, or instead of them. */
  readonly options?: readonly string[]
}): Promise<PrivateMariadb> {
  const folder = resolve(where.folder)
  const data = join(folder, 'data')
  const temporary = join(folder, 'tmp')
  const log = join(folder, 'log')
  const pidFile = join(folder, 'pid')
  const addressFile = join(folder, 'address')

  const left = runningPid(pidFile)
  const earlier = existsSync(addressFile) ? readFileSync(addressFile, 'utf8') : undefined
  // Its password is known to nobody else: who takes it is ours.
  if (left && earlier && (await acceptsConnections(earlier))) return server(left, earlier)

  const mariadbd = findProgram('mariadbd', 'mariadb-server')
  mkdirSync(temporary, { recursive: true, mode: 0o700 })
  const account = serviceAccountFor(folder, 'mysql')
  if (account) for (const owned of [folder, temporary]) chownSync(owned, account.uid, account.gid)
  // What was made under one account stays with it.
  const owner = account && existsSync(data) && statSync(data).uid === 0 ? 'root' : account?.name
  const asOwner = owner === undefined ? [] : [`--user=${owner}`]
  if (!existsSync(data)) installTables(data, temporary, asOwner)

  // The same address as before, where it is still free: who held it finds the server again.
  const before = new URL(earlier ?? 'mysql://127.0.0.1')
  const password = before.password || randomBytes(18).toString('base64url')
  const port = freePort(Number(before.port))
  const url = `mysql://mailroom:${password}@127.0.0.1:${port}/mailroom`
  const initFile = join(folder, 'init.sql')
  writeFileSync(initFile, accountStatements(password), { mode: 0o600 })
  if (account) chownSync(initFile, account.uid, account.gid)
  writeFileSync(addressFile, url, { mode: 0o600 })

  const pid = startProcess(
    [
      mariadbd,
      '--no-defaults',
      ...asOwner,
      `--datadir=${data}`,
      `--pid-file=${pidFile}`,
      `--init-file=${initFile}`,
      // Within the data folder: the path of a Unix socket may only have some hundred bytes.
      '--socket=mariadb.sock',
      // When it starts it removes what another server has there, and that one's queries fail.
      `--tmpdir=${temporary}`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--skip-name-resolve',
      '--log-bin=binlog',
      '--sync-binlog=1',
      '--binlog-expire-logs-seconds=86400',
      '--innodb-flush-log-at-trx-commit=1',
      `--innodb-buffer-pool-size=${where.forMeasuring ? '512M' : '256M'}`,
      ...(where.forMeasuring ? ['--innodb-log-file-size=512M'] : []),
      '--max-connections=300',
      '--character-set-server=utf8mb4',
      ...(where.options ?? []),
    ],
    { folder, log },
  )
  await waitUntilReady({ name: 'MariaDB', pid, log, timeoutMs: 60_000 }, () => acceptsConnections(url))
  return server(pid, url)
}

function server(pid: number, url: string): PrivateMariadb {
  return { pid, url, stop: () => stopProcess(pid, 60_000) }
}

/** Makes the system tables beside their place and moves them there when they are whole. */
function installTables(data: string, temporary: string, asOwner: readonly string[]): void {
  const beside = `${data}.new`
  rmSync(beside, { recursive: true, force: true })
  const made = Bun.spawnSync([
    findProgram('mariadb-install-db', 'mariadb-server'),
    '--no-defaults',
    ...asOwner,
    `--datadir=${beside}`,
    `--tmpdir=${temporary}`,
    '--skip-name-resolve',
    '--skip-test-db',
    '--auth-root-authentication-method=socket',
  ])
  if (made.exitCode !== 0)
    throw new CommandError(`MariaDB's tables could not be made in ${beside}:\n${made.stdout}${made.stderr}`)
  renameSync(beside, data)
}

/** One statement a line: that is how an init file is read. */
function accountStatements(password: string): string {
  return [
    'CREATE DATABASE IF NOT EXISTS mailroom;',
    "CREATE USER IF NOT EXISTS mailroom@'127.0.0.1';",
    `ALTER USER mailroom@'127.0.0.1' IDENTIFIED BY '${password}';`,
    "GRANT ALL PRIVILEGES ON *.* TO mailroom@'127.0.0.1' WITH GRANT OPTION;",
    '',
  ].join('\n')
}

async function acceptsConnections(url: string): Promise<boolean> {
  try {
    const connection = await createConnection({ uri: url, connectTimeout: 2000 })
    await connection.end()
    return true
  } catch {
    return false
  }
}
