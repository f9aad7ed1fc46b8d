import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openServiceManager } from '../../src/cli/service-manager.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { until } from '../harness/until.ts'

/** Receives on an AF_UNIX datagram socket, as systemd does, and prints each datagram with | between its lines. */
const listener = `
use Socket; use IO::Handle; STDOUT->autoflush(1);
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die; bind($s, pack_sockaddr_un($ARGV[0])) or die; print "listening\\n";
while (defined recv($s, my $d, 65536, 0)) { $d =~ s/\\n+$//; $d =~ tr/\\n/|/; print "$d\\n"; }
`

let folder: string
let socket: string
let notifications: string[]
let receiver: Bun.Subprocess<'ignore', 'pipe', 'inherit'>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailroom-notify-'))
  socket = join(folder, 'socket')
  notifications = []
  receiver = Bun.spawn(['perl', '-e', listener, socket], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  void (async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of receiver.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      notifications.push(...lines)
    }
  })()
  await untilNotified('listening')
})

afterEach(() => {
  receiver.kill()
  rmSync(folder, { recursive: true, force: true })
})

const count = (text: string) => notifications.filter(line => line.includes(text)).length

function untilNotified(text: string, times = 1): Promise<unknown> {
  const details = () => JSON.stringify(notifications)
  return until(() => count(text) >= times, { what: `${times} of "${text}"`, details })
}

async function expectSilenceWhileStopped(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  // Notifications sent before the stop still arrive.
  await Bun.sleep(300)
  const before = count('WATCHDOG=1')
  // Two watchdog intervals without a notification.
  await Bun.sleep(1200)
  expect(count('WATCHDOG=1')).toBe(before)
  process.kill(pid, 'SIGCONT')
  await untilNotified('WATCHDOG=1', before + 2)
}

const environment = (more: Readonly<Record<string, string>>) => ({ ...process.env, NOTIFY_SOCKET: socket, ...more })

test('serve notifies that it is ready, alive and stopping, and nothing while it hangs', async () => {
  const mailroom: Mailroom = await startMailroom({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: '600000' })
  try {
    await untilNotified('READY=1|STATUS=Serving SMTP on 127.0.0.1:')
    await untilNotified('WATCHDOG=1', 4)
    await expectSilenceWhileStopped(mailroom.pid)
    expect(await mailroom.kill('SIGTERM')).toBe(0)
    expect(count('STOPPING=1|STATUS=Stopping')).toBe(1)
    expect(notifications.findIndex(line => line.startsWith('READY=1'))).toBeLessThan(
      notifications.findIndex(line => line.startsWith('STOPPING=1')),
    )
  } finally {
    await mailroom.stop()
  }
})

test('with several processes, the watchdog is notified while their parent runs, and not while that hangs', async () => {
  const mailroom = await startMailroom({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: '600000', MAILROOM_PROCESSES: '2' })
  try {
    await untilNotified('READY=1|STATUS=Serving SMTP on 127.0.0.1:')
    const second = await until(() => mailroom.log.filter(({ msg }) => msg === 'process started')[1]?.['pid'], {
      what: 'a second process',
    })
    process.kill(Number(second), 'SIGSTOP')
    // The parent ends it within half a minute; the service manager would end all.
    await untilNotified('WATCHDOG=1', count('WATCHDOG=1') + 4)
    process.kill(Number(second), 'SIGCONT')
    await expectSilenceWhileStopped(mailroom.pid)
    expect(await mailroom.kill('SIGTERM')).toBe(0)
  } finally {
    await mailroom.stop()
  }
}, 30_000)

test('a process that is unhealthy or fails its health check does not notify the watchdog', async () => {
  const manager = openServiceManager(environment({ WATCHDOG_USEC: '90000' }))
  const results = [() => Promise.resolve(false), () => Promise.reject(new Error('unhealthy'))]
  let checks = 0
  await manager.ready('Serving', () => results[checks++ % 2]?.() ?? Promise.resolve(true))
  await until(() => checks >= 6)
  expect(notifications.filter(line => line === 'WATCHDOG=1')).toEqual([])
  await manager.stopping('Stopping')
  await untilNotified('WATCHDOG=1', 3)
  manager.close()
})

test('the watchdog of another process is not notified, and a status is one line', async () => {
  const manager = openServiceManager(environment({ WATCHDOG_USEC: '60000', WATCHDOG_PID: '1' }))
  let checks = 0
  await manager.ready('Serving\nREADY=0', async () => ++checks > 0)
  await untilNotified('READY=1|STATUS=Serving READY=0|')
  // Some watchdog intervals, in which no health check may run.
  await Bun.sleep(200)
  expect(checks).toBe(0)
  manager.close()
})

test('without a service manager there are no notifications and no health checks', async () => {
  const manager = openServiceManager({ WATCHDOG_USEC: '10000' })
  let checks = 0
  await manager.ready('Serving', async () => ++checks > 0)
  // Some watchdog intervals, in which no health check may run.
  await Bun.sleep(200)
  await manager.stopping('Stopping')
  expect([checks, notifications]).toEqual([0, ['listening']])
})
