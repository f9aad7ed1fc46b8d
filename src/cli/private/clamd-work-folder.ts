import { createHash } from 'node:crypto'
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isAlive } from './process.ts'

/** Where clamd unpacks what it scans: in memory where that exists, which is about eight times faster. */
const memory = '/dev/shm'
const namePattern = /^mailroom-clamd-[0-9a-f]{12}$/
const ownerFile = 'owner.json'

/** The process that uses such a folder. */
interface WorkFolderOwner {
  /** The process that starts clamd, then clamd itself. */
  readonly pid: number
  /** The pid namespace: containers may share memory, but not processes. */
  readonly processes: string
}

/** The work folder of the clamd in `folder`. */
export function workFolderFor(folder: string): string {
  const name = `mailroom-clamd-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`
  return existsSync(memory) ? join(memory, name) : join(folder, 'tmp')
}

/** Creates a work folder for the process `pid`, or hands it over to that process. */
export function claimWorkFolder(
  workFolder: string,
  pid: number,
  account?: { readonly uid: number; readonly gid: number },
): void {
  mkdirSync(workFolder, { recursive: true, mode: 0o700 })
  const owner: WorkFolderOwner = { pid, processes: pidNamespace() }
  writeFileSync(join(workFolder, ownerFile), JSON.stringify(owner), { mode: 0o600 })
  if (account) chownSync(workFolder, account.uid, account.gid)
}

/** Removes the work folders in memory of clamds that were killed together with the process that started them. */
export function removeAbandonedFolders(): void {
  if (!existsSync(memory)) return
  for (const name of readdirSync(memory).filter(value => namePattern.test(value)))
    if (isAbandoned(join(memory, name))) rmSync(join(memory, name), { recursive: true, force: true })
}

/** A folder without a readable owner file is not. */
function isAbandoned(path: string): boolean {
  try {
    if (!lstatSync(path).isDirectory()) return false
    const { pid, processes } = JSON.parse(readFileSync(join(path, ownerFile), 'utf8')) as Partial<WorkFolderOwner>
    return Number.isInteger(pid) && processes === pidNamespace() && !isAlive(pid as number)
  } catch {
    return false
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return 'one'
  }
}
