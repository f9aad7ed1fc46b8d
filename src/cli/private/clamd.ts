import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { join, resolve } from 'node:path'
import { claimWorkFolder, removeAbandonedFolders, workFolderFor } from './clamd-work-folder.ts'
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

export interface PrivateClamd extends PrivateServer {
  /** In the form of MAILROOM_CLAMD. */
  readonly address: string
}

/** MD5, size and name of EICAR, the harmless file for testing scanners (eicar.org). */
const eicar = '44d88612fea8a8f36de82e1278abb02f:68:Eicar-Test-Signature\n'

/** The longest path of a Unix socket that every system accepts, in bytes. */
const maxSocketPathBytes = 100

/** Where Debian's freshclam stores ClamAV's database. */
export const clamavFolder = '/var/lib/clamav'

/** ClamAV's database as an option of {@link startClamd}, where this machine has all of it. */
export function installedSignatures(): { readonly signatures?: string } {
  const files = existsSync(clamavFolder) ? readdirSync(clamavFolder) : []
  const isWhole = ['main', 'daily'].every(name => files.some(file => new RegExp(`^${name}\\.c[lv]d$`).test(file)))
  return isWhole ? { signatures: clamavFolder } : {}
}

/**
 * Starts a private clamd in `folder`, on a Unix socket (on a free port of 127.0.0.1 where the path is too long for one).
 * `signatures` is the directory of ClamAV's database; without it clamd detects only EICAR. A clamd that an earlier run left
 * running there is reused.
 */
export async function startClamd(where: {
  readonly folder: string
  readonly signatures?: string
  /**
   * Unpack on the disk, as Debian configures it, and do not cache clean results: for measuring, where the same content is
   * scanned again.
   */
  readonly forMeasuring?: boolean
  /** More lines for clamd.conf; they override ours. */
  readonly settings?: Readonly<Record<string, string>>
}): Promise<PrivateClamd> {
  const folder = resolve(where.folder)
  const log = join(folder, 'log')
  const pidFile = join(folder, 'pid')
  const addressFile = join(folder, 'address')

  const runningClamd = runningPid(pidFile)
  const earlier = existsSync(addressFile) ? readFileSync(addressFile, 'utf8') : ''
  if (runningClamd && (await answersPing(earlier))) return server(runningClamd, earlier, folder)

  const clamd = findProgram('clamd', 'clamav-daemon')
  mkdirSync(join(folder, 'eicar'), { recursive: true, mode: 0o755 })
  const workFolder = where.forMeasuring ? join(folder, 'tmp') : workFolderFor(folder)
  removeAbandonedFolders()
  writeFileSync(join(folder, 'eicar', 'eicar.hdb'), eicar)
  const account = serviceAccountFor(folder, 'clamav')
  if (account) chownSync(folder, account.uid, account.gid)
  claimWorkFolder(workFolder, process.pid, account)

  const socket = join(folder, 'clamd.sock')
  rmSync(socket, { force: true })
  const port =
    Buffer.byteLength(socket) > maxSocketPathBytes
      ? freePort(Number(/^tcp:.*:(\d+)$/.exec(earlier)?.[1] ?? 0))
      : undefined
  const address = port === undefined ? `unix:${socket}` : `tcp:127.0.0.1:${port}`
  const settings = {
    ...(port === undefined ? { LocalSocket: socket, LocalSocketMode: 600 } : { TCPAddr: '127.0.0.1', TCPSocket: port }),
    ...(account && account.uid !== 0 ? { User: account.name } : {}),
    DatabaseDirectory: where.signatures ?? join(folder, 'eicar'),
    TemporaryDirectory: workFolder,
    Foreground: 'yes',
    LogTime: 'yes',
    MaxThreads: 16,
    MaxConnectionQueueLength: 64,
    StreamMaxLength: '600M',
    MaxFileSize: '600M',
    MaxScanSize: '1200M',
    AlertExceedsMax: 'yes',
    ...(where.forMeasuring ? { DisableCache: 'yes' } : {}),
    // Otherwise a reload needs twice the memory.
    ConcurrentDatabaseReload: 'no',
    ...where.settings,
  }
  const configFile = join(folder, 'clamd.conf')
  writeFileSync(
    configFile,
    Object.entries(settings)
      .map(([key, value]) => `${key} ${value}\n`)
      .join(''),
  )
  writeFileSync(addressFile, address)

  const pid = startProcess([clamd, `--config-file=${configFile}`], { folder, log })
  // It takes as much of the processors as there is mail; those who answer meanwhile come first.
  if (!where.forMeasuring) setPriority(pid, 10)
  writeFileSync(pidFile, String(pid))
  claimWorkFolder(workFolder, pid, account)
  // ClamAV's database takes most of a minute to load on a small machine.
  await waitUntilReady({ name: 'clamd', pid, log, timeoutMs: 180_000 }, () => answersPing(address))
  return server(pid, address, folder)
}

function server(pid: number, address: string, folder: string): PrivateClamd {
  return {
    pid,
    address,
    async stop() {
      await stopProcess(pid, 10_000)
      rmSync(workFolderFor(folder), { recursive: true, force: true })
    },
  }
}

/** Does clamd answer PING at this address? */
function answersPing(address: string): Promise<boolean> {
  const [kind, ...rest] = address.split(':')
  if (kind !== 'unix' && kind !== 'tcp') return Promise.resolve(false)
  return new Promise(done => {
    const socket = kind === 'unix' ? connect(rest.join(':')) : connect(Number(rest[1]), rest[0])
    const end = (isPong: boolean) => {
      socket.destroy()
      done(isPong)
    }
    socket.setTimeout(2000, () => end(false))
    socket.on('error', () => end(false))
    socket.on('connect', () => socket.write('zPING\0'))
    socket.on('data', reply => end(reply.toString().startsWith('PONG')))
    socket.on('close', () => end(false))
  })
}
