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
  /** `mysql://mailroom:password@127.0.0.1:port/mailroom`; the account has all privileges. */
  readonly url: string
}

/**
 * Starts a private MariaDB in `folder`, on a free port of 127.0.0.1, with the database `mailroom`. It is as durable as in
 * production: the redo log and the binary log are synced at each commit. Data and address of an earlier run are used again,
 * and a server that it left running is reused.
 */
export async function startMariadb(where: {
  readonly folder: string
  /** With the buffer pool and redo log of a dedicated server, so that it does not have to flush pages meanwhile. */
  readonly forMeasuring?: boolean
  /** More options for mariadbd; they override ours. */
  readonly options?: readonly string[]
}): Promise<PrivateMariadb> {
  const folder = resolve(where.folder)
  const data = join(folder, 'data')
  const temporary = join(folder, 'tmp')
  const log = join(folder, 'log')
  const pidFile = join(folder, 'pid')
  const addressFile = join(folder, 'address')

  const runningServer = runningPid(pidFile)
  const earlier = existsSync(addressFile) ? readFileSync(addressFile, 'utf8') : undefined
  // Nobody else knows the password: a server that accepts it is ours.
  if (runningServer && earlier && (await acceptsConnections(earlier))) return server(runningServer, earlier)

  const mariadbd = findProgram('mariadbd', 'mariadb-server')
  mkdirSync(temporary, { recursive: true, mode: 0o700 })
  const account = serviceAccountFor(folder, 'mysql')
  if (account) for (const owned of [folder, temporary]) chownSync(owned, account.uid, account.gid)
  // The data stay with the account that created them.
  const owner = account && existsSync(data) && statSync(data).uid === 0 ? 'root' : account?.name
  const asOwner = owner === undefined ? [] : [`--user=${owner}`]
  if (!existsSync(data)) installTables(data, temporary, asOwner)

  // The same address as before where it is still free, so that clients of it find the server again.
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
      // Relative to the data directory: the path of a Unix socket is limited to about a hundred bytes.
      '--socket=mariadb.sock',
      // At its start a server clears this directory: one that another server uses must not be shared.
      `--tmpdir=${temporary}`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--skip-name-resolve',
      '--log-bin=binlog',
      '--sync-binlog=1',
      '--binlog-expire-logs-seconds=86400',
      // Beside each row MariaDB would write the statement's text to it, with all values once more.
      '--skip-binlog-annotate-row-events',
      // What a transaction writes to it is collected in memory, past this in a temporary file.
      '--binlog-cache-size=4M',
      '--innodb-flush-log-at-trx-commit=1',
      `--innodb-buffer-pool-size=${where.forMeasuring ? '512M' : '256M'}`,
      // With a small redo log pages have to be flushed while mail comes in.
      `--innodb-log-file-size=${where.forMeasuring ? '512M' : '256M'}`,
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

/** Creates the system tables in a temporary directory, and moves it into place when it is complete. */
function installTables(data: string, temporary: string, asOwner: readonly string[]): void {
  const temporaryData = `${data}.new`
  rmSync(temporaryData, { recursive: true, force: true })
  const installed = Bun.spawnSync([
    findProgram('mariadb-install-db', 'mariadb-server'),
    '--no-defaults',
    ...asOwner,
    `--datadir=${temporaryData}`,
    `--tmpdir=${temporary}`,
    '--skip-name-resolve',
    '--skip-test-db',
    '--auth-root-authentication-method=socket',
  ])
  if (installed.exitCode !== 0)
    throw new CommandError(
      `MariaDB's system tables could not be created in ${temporaryData}:\n${installed.stdout}${installed.stderr}`,
    )
  renameSync(temporaryData, data)
}

/** One statement on each line, as an init file needs. */
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
