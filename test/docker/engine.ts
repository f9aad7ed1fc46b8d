import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, stopProcess } from '../../src/cli/private/process.ts'
import type { CliResult } from '../harness/cli.ts'
import { until } from '../harness/until.ts'

/** A Docker of the tests' own: its daemon touches neither the machine's network nor another Docker's images. */
export interface Engine {
  /** A folder that goes with it. */
  readonly folder: string
  /** Runs a command of Docker's to its end. */
  run(...args: readonly string[]): Promise<CliResult>
  /** The same, and gives what it printed. @throws when it fails. */
  docker(...args: readonly string[]): Promise<string>
  /** Runs lines of bash in which `docker` is this one. @throws when they fail. */
  bash(script: string): Promise<string>
  /** Ends what runs in it, and removes all that it made. */
  close(): Promise<void>
}

const startMs = 60_000

/** Starts it. @throws with the daemon's log where this machine cannot run one. */
export async function startEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-docker-'))
  const at = (name: string) => join(folder, name)
  // Servers with accounts of their own keep what is theirs in it.
  chmodSync(folder, 0o755)
  mkdirSync(at('config'))
  const env = {
    ...process.env,
    // Debian's client, which builds without plugins, comes first.
    PATH: `/usr/sbin:/usr/bin:/sbin:/bin:${process.env['PATH']}`,
    DOCKER_HOST: `unix://${at('socket')}`,
    DOCKER_BUILDKIT: '1',
    DOCKER_CONFIG: at('config'),
  }
  const daemon = Bun.spawn(
    [
      findProgram('dockerd', 'docker.io'),
      `--host=${env.DOCKER_HOST}`,
      ...['data', 'exec'].map(name => `--${name}-root=${at(name)}`),
      `--pidfile=${at('pid')}`,
      ...['--bridge=none', '--iptables=false', '--ip-forward=false', '--ip-masq=false', '--live-restore=false'],
    ],
    { env, stdin: 'ignore', stdout: Bun.file(at('log')), stderr: Bun.file(at('log')) },
  )
  const guard = endWithUs(daemon.pid)

  const run = async (command: readonly string[]): Promise<CliResult> => {
    const running = Bun.spawn([...command], { env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
    const [out, err, status] = await Promise.all([
      new Response(running.stdout).text(),
      new Response(running.stderr).text(),
      running.exited,
    ])
    return { status, out, err }
  }
  const must = async (command: readonly string[]): Promise<string> => {
    const { status, out, err } = await run(command)
    if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}:\n${out}${err}`)
    return out.trim()
  }
  const engine: Engine = {
    folder,
    run: (...args) => run(['docker', ...args]),
    docker: (...args) => must(['docker', ...args]),
    bash: script => must(['bash', '-euo', 'pipefail', '-c', script]),
    async close() {
      const containers = (await run(['docker', 'ps', '--all', '--quiet'])).out.split('\n').filter(Boolean)
      if (containers.length > 0) await run(['docker', 'rm', '--force', ...containers])
      await stopProcess(daemon.pid, 30_000)
      guard.kill()
      for (const mounted of mountsIn(folder)) await run(['umount', mounted])
      rmSync(folder, { recursive: true, force: true })
    },
  }
  const isUp = async () => existsSync(at('socket')) && (await engine.run('version')).status === 0
  const what = 'dockerd answers'
  const details = () => readFileSync(at('log'), 'utf8').slice(-4000)
  try {
    const isUpOrEnded = async () => daemon.exitCode !== null || (await isUp())
    await until(isUpOrEnded, { what, withinMs: startMs, details })
    if (daemon.exitCode !== null) throw new Error(`dockerd ended with ${daemon.exitCode}:\n${details()}`)
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** What is mounted below a folder, the last first: the daemon leaves the network of the machine there. */
function mountsIn(folder: string): readonly string[] {
  const paths = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
  return paths.filter(path => path.startsWith(`${folder}/`)).reverse()
}

/** A shell that waits for its standard input to close, which the end of this process does, also by kill -9. */
function endWithUs(pid: number): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', 'cat >/dev/null; kill "$1"', 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.unref()
  return shell
}
