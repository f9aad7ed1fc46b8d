import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openServiceManager } from '../../src/cli/service-manager.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'

/** Listens on an AF_UNIX datagram socket, as systemd does, and prints each datagram with a bar between its lines. */
const listener = `
use Socket; use IO::Handle; STDOUT->autoflush(1);
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die; bind($s, pack_sockaddr_un($ARGV[0])) or die; print "listening\\n";
while (defined recv($s, my $d, 65536, 0)) { $d =~ s/\\n+$//; $d =~ tr/\\n/|/; print "$d\\n"; }
`

let folder: string
let socket: string
let heard: string[]
let listening: Bun.Subprocess<'ignore', 'pipe', 'inherit'>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailroom-notify-'))
  socket = join(folder, 'socket')
  heard = []
  listening = Bun.spawn(['perl', '-e', listener, socket], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  void (async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of listening.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      heard.push(...lines)
    }
  })()
  await hear('listening')
})

afterEach(() => {
  listening.kill()
  rmSync(folder, { recursive: true, force: true })
})

const count = (text: string) => heard.filter(line => line.includes(text)).length

async function hear(text: string, times = 1): Promise<void> {
  for (const deadline = Date.now() + 20_000; count(text) < times; await Bun.sleep(10))
    if (Date.now() > deadline) throw new Error(`"${text}" was not heard; heard ${JSON.stringify(heard)}`)
}

const environment = (more: Readonly<Record<string, string>>) => ({ ...process.env, NOTIFY_SOCKET: socket, ...more })

test('serve says when it serves, that it goes on, and that it ends; and says nothing while it hangs', async () => {
  const mailroom: Mailroom = await startMailroom({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: '600000' })
  try {
    await hear('READY=1|STATUS=Serving SMTP on 127.0.0.1:')
    await hear('WATCHDOG=1', 4)
    process.kill(mailroom.pid, 'SIGSTOP')
    // What was on its way when it stopped arrives still.
    await Bun.sleep(300)
    const before = count('WATCHDOG=1')
    await Bun.sleep(1200)
    expect(count('WATCHDOG=1')).toBe(before)
    process.kill(mailroom.pid, 'SIGCONT')
    await hear('WATCHDOG=1', before + 2)
    expect(await mailroom.kill('SIGTERM')).toBe(0)
    expect(count('STOPPING=1|STATUS=Ending')).toBe(1)
    expect(heard.findIndex(line => line.startsWith('READY=1'))).toBeLessThan(
      heard.findIndex(line => line.startsWith('STOPPING=1')),
    )
  } finally {
    await mailroom.stop()
  }
})

test('a process that is not healthy, or does not say so in time, leaves the watchdog alone', async () => {
  const manager = openServiceManager(environment({ WATCHDOG_USEC: '90000' }))
  const answers = [() => Promise.resolve(false), () => Promise.reject(new Error('away'))]
  let asked = 0
  await manager.ready('Serving', () => answers[asked++ % 2]?.() ?? Promise.resolve(true))
  while (asked < 6) await Bun.sleep(10)
  expect(heard.filter(line => line === 'WATCHDOG=1')).toEqual([])
  await manager.stopping('Ending')
  await hear('WATCHDOG=1', 3)
  manager.close()
})

test('a watchdog of another process is not answered, and a status is one line', async () => {
  const manager = openServiceManager(environment({ WATCHDOG_USEC: '60000', WATCHDOG_PID: '1' }))
  let asked = 0
  await manager.ready('Serving\nREADY=0', async () => ++asked > 0)
  await hear('READY=1|STATUS=Serving READY=0|')
  await Bun.sleep(200)
  expect(asked).toBe(0)
  manager.close()
})

test('without a service manager nothing is said, and nothing is asked', async () => {
  const manager = openServiceManager({ WATCHDOG_USEC: '10000' })
  let asked = 0
  await manager.ready('Serving', async () => ++asked > 0)
  await Bun.sleep(200)
  await manager.stopping('Ending')
  expect([asked, heard]).toEqual([0, ['listening']])
})
