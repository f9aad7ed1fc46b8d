import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandError } from '../../base/operator-error.ts'

/** A server that a command started for its own use. */
export interface PrivateServer {
  readonly pid: number
  /** Stops it and waits until it has exited. May be called again. */
  stop(): Promise<void>
}

const systemFolders = ['/usr/sbin', '/usr/local/sbin', '/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']

/** The full path of a program, also where PATH lacks the directories of system programs. @throws CommandError when missing */
export function findProgram(name: string, debianPackage: string): string {
  const folders = [...(process.env['PATH'] ?? '').split(':'), ...systemFolders]
  const found = folders.map(folder => join(folder, name)).find(path => existsSync(path))
  if (!found)
    throw new CommandError(`${name} is not installed; on Debian and Ubuntu it is in the package ${debianPackage}.`)
  return found
}

/**
 * Starts a server in its own session, so that a Ctrl-C for us does not reach it, with its output appended to `log`. Gives its
 * process id.
 */
export function startProcess(
  command: readonly string[],
  where: { readonly folder: string; readonly log: string },
): number {
  const [program = '', ...args] = command
  const output = openSync(where.log, 'a', 0o600)
  const child = spawn(program, args, { cwd: where.folder, detached: true, stdio: ['ignore', output, output] })
  closeSync(output)
  child.unref()
  if (child.pid === undefined) throw new CommandError(`${program} could not be started.`)
  return child.pid
}

/**
 * Like Promise.all, but when one fails it waits for the others before it throws: nothing is still starting then.
 */
export async function allAfterSettled<const Starts extends readonly Promise<unknown>[]>(starts: Starts) {
  await Promise.allSettled(starts)
  return Promise.all(starts)
}

/** Is a process with this id running? A zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !hasEnded(`/proc/${pid}`)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The first thread can be a zombie while other threads still hold files and ports: then the process is running. */
function hasEnded(entry: string): boolean {
  if (!existsSync(entry)) return false
  const isZombie = /\) [ZX] /.test(readFileSync(join(entry, 'stat'), 'utf8'))
  return isZombie && readdirSync(join(entry, 'task')).length <= 1
}

/** Sends SIGTERM to a process, waits until it has exited, and sends SIGKILL after `timeoutMs`. */
export async function stopProcess(pid: number, timeoutMs: number): Promise<void> {
  if (!signal(pid, 'SIGTERM')) return
  for (const deadline = Date.now() + timeoutMs; isAlive(pid); await Bun.sleep(20)) {
    if (Date.now() < deadline) continue
    signal(pid, 'SIGKILL')
    return
  }
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** The process id in a pid file; undefined where no such process is running. */
export function runningPid(file: string): number | undefined {
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  return Number.isInteger(pid) && pid > 1 && isAlive(pid) ? pid : undefined
}

/**
 * Polls `isReady` until it resolves to true.
 * @throws CommandError with the last lines of the server's log when the process exits first, or after `timeoutMs`
 */
export async function waitUntilReady(
  server: { readonly name: string; readonly pid: number; readonly log: string; readonly timeoutMs: number },
  isReady: () => Promise<boolean>,
): Promise<void> {
  for (const deadline = Date.now() + server.timeoutMs; !(await isReady()); await Bun.sleep(25)) {
    if (isAlive(server.pid) && Date.now() < deadline) continue
    const last = readFileSync(server.log, 'utf8').trimEnd().split('\n').slice(-8).join('\n  ')
    if (isAlive(server.pid)) await stopProcess(server.pid, 5000)
    throw new CommandError(`${server.name} did not start. The end of ${server.log}:\n  ${last}`)
  }
}

/**
 * A port of 127.0.0.1 that nothing listens on at the moment: `preferred` where it is free, else one below the range of
 * ephemeral ports, so that no client's connection uses it when a server is restarted there.
 */
export function freePort(preferred = 0): number {
  if (preferred !== 0 && isFree(preferred)) return preferred
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (isFree(port)) return port
  }
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
    return true
  } catch {
    return false
  }
}

/**
 * The account that a server started by root switches to: `name`, where there is such an account and it can reach `folder`,
 * else root itself. undefined when we are not root.
 */
export function serviceAccountFor(
  folder: string,
  name: string,
): { readonly name: string; readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const entry = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find(line => line.startsWith(`${name}:`))
  const [, , uid, gid] = entry?.split(':') ?? []
  return entry && isOpenToAll(dirname(folder))
    ? { name, uid: Number(uid), gid: Number(gid) }
    : { name: 'root', uid: 0, gid: 0 }
}

function isOpenToAll(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o001) !== 0
  return isOpen && (folder === dirname(folder) || isOpenToAll(dirname(folder)))
}
