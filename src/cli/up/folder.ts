import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError } from '../../base/operator-error.ts'
import type { DemoIds } from '../demo.ts'
import { runningPid, stopProcess } from '../private/process.ts'

/** What a running `up` writes into `up.json` for programs that want to talk to it. */
export interface UpFile extends DemoIds {
  /** The API's base address. */
  readonly http: string
  /** Where mail is received. */
  readonly smtp: string
  readonly key: string
  readonly database_url: string
  /** The serving process. */
  readonly pid: number
}

/** Everything that `up` keeps in its folder, besides the file `pid`. */
export function pathsIn(folder: string) {
  return {
    mariadb: join(folder, 'mariadb'),
    clamd: join(folder, 'clamd'),
    spool: join(folder, 'spool'),
    sandbox: join(folder, 'sandbox'),
    demo: join(folder, 'demo.json'),
    up: join(folder, 'up.json'),
  }
}

/**
 * Takes the folder for this process, until it ends or gives it back; `isFresh` takes away what earlier runs left in it,
 * and nothing else.
 * @throws CommandError when another `up` has it.
 */
export async function claimFolder(folder: string, isFresh: boolean): Promise<{ giveBack(): void }> {
  const places = pathsIn(folder)
  const pidFile = join(folder, 'pid')
  const other = runningPid(pidFile)
  if (other && other !== process.pid && isMailroom(other))
    throw new CommandError(`Mailroom is up in ${folder} already, as process ${other}.`)
  // Servers that give up root's rights must be able to pass.
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  writeFileSync(pidFile, String(process.pid))
  rmSync(places.up, { force: true })
  if (isFresh) await wipe(folder)
  return { giveBack: () => rmSync(pidFile, { force: true }) }
}

async function wipe(folder: string): Promise<void> {
  const places = pathsIn(folder)
  for (const server of [places.mariadb, places.clamd]) {
    const left = runningPid(join(server, 'pid'))
    if (left && commandOf(left).includes(folder)) await stopProcess(left, 60_000)
  }
  for (const place of Object.values(places)) rmSync(place, { recursive: true, force: true })
}

function isMailroom(pid: number): boolean {
  return commandOf(pid).includes('cli.ts')
}

/** The command line of a process; a number may have gone to another program since it was noted. */
function commandOf(pid: number): string {
  const file = `/proc/${pid}/cmdline`
  if (existsSync(file)) return readFileSync(file, 'utf8')
  return Bun.spawnSync(['ps', '-ww', '-o', 'args=', '-p', String(pid)]).stdout.toString()
}

/** What `file` holds; undefined when it is not there. */
export function readJsonFile<Value>(file: string): Value | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Value) : undefined
}

/** Writes the whole file or nothing, for us alone: it holds a key. */
export function writeJsonFile(file: string, value: unknown): void {
  const beside = `${file}.new`
  writeFileSync(beside, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(beside, file)
}
