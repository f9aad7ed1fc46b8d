import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError } from '../../base/operator-error.ts'
import type { DemoIds } from '../demo.ts'
import { runningPid, stopProcess } from '../private/process.ts'

/** What a running `up` writes to `up.json`, for programs that use it. */
export interface UpFile extends DemoIds {
  /** The API's base address. */
  readonly http: string
  /** Where mail is received. */
  readonly smtp: string
  /** Where programs submit mail; null: the environment has left that out. */
  readonly submission: string | null
  readonly key: string
  /** Where the dashboard is opened. */
  readonly dashboard: string
  /** Signs the demo's owner in, once; null: somebody has signed in. */
  readonly welcome_link: string | null
  readonly database_url: string
  /** The serving process; with MAILROOM_PROCESSES, the parent of those. */
  readonly pid: number
}

/** Everything that `up` stores in its folder, besides the file `pid`. */
export function pathsIn(folder: string) {
  return {
    mariadb: join(folder, 'mariadb'),
    clamd: join(folder, 'clamd'),
    spool: join(folder, 'spool'),
    submissionSpool: join(folder, 'submission-spool'),
    sandbox: join(folder, 'sandbox'),
    demo: join(folder, 'demo.json'),
    up: join(folder, 'up.json'),
  }
}

/**
 * Claims the folder for this process, until it ends or releases it. `isFresh` deletes what earlier runs left in it, and
 * nothing else.
 * @throws CommandError when another `up` uses it
 */
export async function claimFolder(folder: string, isFresh: boolean): Promise<{ release(): void }> {
  const paths = pathsIn(folder)
  const pidFile = join(folder, 'pid')
  const other = runningPid(pidFile)
  if (other && other !== process.pid && isMailroom(other))
    throw new CommandError(`Mailroom is running in ${folder} already, as process ${other}.`)
  // Servers that drop root privileges have to get through it.
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  writeFileSync(pidFile, String(process.pid))
  rmSync(paths.up, { force: true })
  if (isFresh) await wipe(folder)
  return { release: () => rmSync(pidFile, { force: true }) }
}

async function wipe(folder: string): Promise<void> {
  const paths = pathsIn(folder)
  for (const server of [paths.mariadb, paths.clamd]) {
    const pid = runningPid(join(server, 'pid'))
    if (pid && commandOf(pid).includes(folder)) await stopProcess(pid, 60_000)
  }
  for (const path of Object.values(paths)) rmSync(path, { recursive: true, force: true })
}

function isMailroom(pid: number): boolean {
  return /\bcli\.[jt]s\b/.test(commandOf(pid))
}

/** The command line of a process: the system may have given a recorded pid to another program since. */
function commandOf(pid: number): string {
  const file = `/proc/${pid}/cmdline`
  if (existsSync(file)) return readFileSync(file, 'utf8')
  return Bun.spawnSync(['ps', '-ww', '-o', 'args=', '-p', String(pid)]).stdout.toString()
}

/** The content of `file`; undefined when there is no such file. */
export function readJsonFile<Value>(file: string): Value | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Value) : undefined
}

/** Writes the file atomically, readable by us only: it contains a key. */
export function writeJsonFile(file: string, value: unknown): void {
  const temporary = `${file}.new`
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(temporary, file)
}
