import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CliResult } from '../harness/cli.ts'
import { until } from '../harness/until.ts'
import { runAsRoot } from './debian-base.ts'
import { librariesCache, makeDisk } from './machine-disk.ts'

/** A Debian of its own, with namespaces and a loopback of its own; nothing of it reaches the network. */
export interface Machine {
  /** The first process of it, as this machine counts. */
  readonly pid: number
  /** Where a file of it is for this machine. */
  path(file: string): string
  /** Runs a shell's commands in it as root, to their end. */
  run(commands: string, settings?: Readonly<Record<string, string>>): Promise<CliResult>
  /** Starts commands in it, in a process group of their own. */
  start(commands: string, settings?: Readonly<Record<string, string>>): Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  /** Runs a file of the tests with the files of this machine and the network of that one, and gives what it printed. */
  runBeside(file: string, args: readonly string[]): Promise<string>
  /** Lets systemd take over as its first process, and waits until it has started what is enabled. */
  boot(): Promise<void>
  end(): Promise<void>
}

/** Why no systemd can be booted here; null: it can. */
export function whyNoMachine(): string | null {
  if (process.getuid?.() !== 0) return 'it needs root'
  if (!cgroupFolder()) return 'no cgroup2 file system is mounted'
  const mounting = 'unshare --fork --pid --mount --net --cgroup mount -t tmpfs none /mnt'
  const tried = Bun.spawnSync(mounting.split(' '))
  return tried.success ? null : `namespaces and mounts are not allowed: ${tried.stderr}`
}

function cgroupFolder(): string | undefined {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' '))
  return mounts.find(([, , type]) => type === 'cgroup2')?.[1]
}

/** Makes everything that a first process expects, and waits for a line before systemd becomes that process. */
const firstProcess = `
root=$1 cache=$2
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for each in null zero full random urandom tty; do touch dev/$each; mount --bind /dev/$each dev/$each; done
ln -s /proc/self/fd dev/fd
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mkdir -p root/.bun/install/cache
mount --bind "$cache" root/.bun/install/cache
mkdir .old
pivot_root . .old
umount -l .old
mount --make-rshared /
echo ready
read -r _
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=multi-user.target </dev/null
`

/**
 * Waits for its standard input to close, which the end of this process does, however it ends; then ends the machine. Its
 * groups can be removed once the last of its processes has ended, the innermost first.
 */
const ending = `
cat >/dev/null
kill -9 "$1"
for _ in $(seq 100); do
  find "$3" -depth -type d -exec rmdir {} + 2>/dev/null
  [ -d "$3" ] || break
  sleep 0.1
done
rm -rf "$2"
`

/** A machine with this project's files, Bun and the libraries' cache, on which nothing has been installed yet. */
export async function startMachine(): Promise<Machine> {
  const folder = await makeDisk()
  const group = join(cgroupFolder() ?? '', folder.split('/').at(-1) ?? '')
  mkdirSync(group)
  const namespaces = ['--fork', '--pid', '--mount', '--uts', '--ipc', '--cgroup', '--net', '--kill-child']
  const unshared = Bun.spawn(
    [
      ...['sh', '-ec', `echo $$ >"$0"/cgroup.procs; exec unshare ${namespaces.join(' ')} --propagation private "$@"`],
      ...[group, 'sh', '-ec', firstProcess, 'sh', folder, await librariesCache()],
    ],
    { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
  )
  const guard = Bun.spawn(['setsid', 'sh', '-c', ending, 'sh', String(unshared.pid), folder, group], { stdin: 'pipe' })
  const printed = collect(unshared.stdout, unshared.stderr)
  await until(() => printed.text.includes('ready\n'), {
    what: 'the machine starts',
    withinMs: 60_000,
    details: () => printed.text,
  })
  const pid = Number(readFileSync(`/proc/${unshared.pid}/task/${unshared.pid}/children`, 'utf8').trim())
  const within = (commands: string) => [
    'nsenter',
    '-t',
    String(pid),
    '-m',
    '-u',
    '-i',
    '-n',
    '-p',
    '-C',
    'sh',
    '-c',
    commands,
  ]
  const env = (settings: Readonly<Record<string, string>>) => ({
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    TERM: 'dumb',
    ...settings,
  })

  const machine: Machine = {
    pid,
    path: file => join(`/proc/${pid}/root`, file),
    start: (commands, settings = {}) =>
      Bun.spawn(['setsid', '--wait', ...within(commands)], {
        env: env(settings),
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    async run(commands, settings) {
      const running = machine.start(commands, settings)
      const [out, err, status] = await Promise.all([
        new Response(running.stdout).text(),
        new Response(running.stderr).text(),
        running.exited,
      ])
      return { status, out, err }
    },
    runBeside: (file, args) =>
      runAsRoot(['nsenter', `--net=/proc/${pid}/ns/net`, process.execPath, join(import.meta.dir, file), ...args]),
    async boot() {
      unshared.stdin.write('go\n')
      await unshared.stdin.flush()
      const state = async () => (await machine.run('systemctl is-system-running')).out.trim()
      await until(async () => ['running', 'degraded'].includes(await state()), {
        what: 'systemd has started',
        withinMs: 60_000,
        details: () => printed.text.slice(-4000),
      })
    },
    async end() {
      guard.stdin.end()
      await guard.exited
    },
  }
  return machine
}

function collect(...streams: readonly ReadableStream<Uint8Array>[]): { text: string } {
  const collected = { text: '' }
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) collected.text += decoder.decode(bytes, { stream: true })
  }
  for (const stream of streams) void read(stream)
  return collected
}
