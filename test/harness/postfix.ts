import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  findProgram,
  freePort,
  serviceAccountFor,
  startProcess,
  stopProcess,
  waitUntilReady,
} from '../../src/cli/private/process.ts'

/** A real Postfix on 127.0.0.1 that accepts mail from this machine and relays all of it. */
export interface Postfix {
  readonly port: number
  log(): string
  stop(): Promise<void>
}

/** Postfix starts only as root, and drops its privileges itself. */
export const canStartPostfix = process.getuid?.() === 0

/** Starts a Postfix with a configuration of its own, which relays to `nextPort` of 127.0.0.1; `more` is added to main.cf. */
export async function startPostfix(nextPort: number, more: Readonly<Record<string, string>> = {}): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-postfix-'))
  chmodSync(folder, 0o755)
  const [config, queue, state, log] = ['config', 'queue', 'state', 'log'].map(name => join(folder, name)) as Four
  for (const value of [config, queue, state]) mkdirSync(value)
  const account = serviceAccountFor(state, 'postfix')
  if (account) chownSync(state, account.uid, account.gid)
  const port = freePort()
  writeFileSync(join(config, 'main.cf'), mainSettings({ queue, state, nextPort }, more))
  writeFileSync(join(config, 'master.cf'), services(port))
  writeFileSync(log, '')
  const pid = startProcess([findProgram('postfix', 'postfix'), '-c', config, 'start-fg'], { folder, log })
  await waitUntilReady({ name: 'Postfix', pid, log, timeoutMs: 20_000 }, () => greets(port))
  return {
    port,
    log: () => readFileSync(log, 'utf8'),
    stop: async () => {
      // The started process is a script; the master process, which ends the others, has its pid in a file.
      await stopProcess(Number(readFileSync(join(queue, 'pid/master.pid'), 'utf8')), 10_000)
      await stopProcess(pid, 10_000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Four = [string, string, string, string]

function mainSettings(
  where: { readonly queue: string; readonly state: string; readonly nextPort: number },
  more: Readonly<Record<string, string>>,
): string {
  const settings = {
    compatibility_level: '3.6',
    queue_directory: where.queue,
    data_directory: where.state,
    maillog_file: '/dev/stdout',
    myhostname: 'relay.friend.test',
    mydestination: '',
    mynetworks: '127.0.0.0/8',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    smtpd_relay_restrictions: 'permit_mynetworks, reject',
    relayhost: `[127.0.0.1]:${where.nextPort}`,
    smtp_host_lookup: 'native',
    smtp_dns_support_level: 'disabled',
    alias_maps: '',
    alias_database: '',
    ...more,
  }
  return Object.entries(settings)
    .map(([key, value]) => `${key} = ${value}\n`)
    .join('')
}

function services(port: number): string {
  return `127.0.0.1:${port} inet n - n - - smtpd
cleanup   unix  n - n -    0 cleanup
qmgr      unix  n - n 300  1 qmgr
rewrite   unix  - - n -    - trivial-rewrite
bounce    unix  - - n -    0 bounce
defer     unix  - - n -    0 bounce
trace     unix  - - n -    0 bounce
smtp      unix  - - n -    - smtp
error     unix  - - n -    - error
retry     unix  - - n -    - error
proxymap  unix  - - n -    - proxymap
anvil     unix  - - n -    1 anvil
scache    unix  - - n -    1 scache
tlsmgr    unix  - - n 1000? 1 tlsmgr
postlog   unix-dgram n - n - 1 postlogd
`
}

function greets(port: number): Promise<boolean> {
  return new Promise(done => {
    let greeting = ''
    Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        data(socket, bytes) {
          greeting += bytes.toString()
          socket.end()
        },
        close: () => done(greeting.startsWith('220 ')),
        error: () => done(false),
        connectError: () => done(false),
      },
    }).catch(() => done(false))
  })
}
