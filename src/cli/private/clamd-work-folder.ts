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

/** Where clamd unpacks what it scans: in memory where there is such a place, which makes it some eight times faster. */
const memory = '/dev/shm'
const nameForm = /^mailroom-clamd-[0-9a-f]{12}$/
const ownerFile = 'owner.json'

/** Who works in such a folder. */
interface WorkFolderOwner {
  /** The process that starts clamd there, then clamd itself. */
  readonly pid: number
  /** Where that number means something: containers may share the memory, and not the processes. */
  readonly processes: string
}

/** The work folder of the clamd in `folder`. */
export function workFolderFor(folder: string): string {
  const name = `mailroom-clamd-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`
  return existsSync(memory) ? join(memory, name) : join(folder, 'tmp')
}

/** Makes a work folder that is `pid`'s, or gives it to another process. */
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

/** Removes the work folders in memory that were left by a clamd which was killed, with whoever started it. */
export function removeAbandonedFolders(): void {
  if (!existsSync(memory)) return
  for (const name of readdirSync(memory).filter(value => nameForm.test(value)))
    if (isAbandoned(join(memory, name))) rmSync(join(memory, name), { recursive: true, force: true })
}

/** What does not say whose it is, or is not ours to read, stays. */
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
