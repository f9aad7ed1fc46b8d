import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '../../src/base/config/config.ts'
import { cpuTimeMs } from '../../src/cli/bench/cpu-time.ts'
import {
  findProgram,
  freePort,
  serviceAccountFor,
  startProcess,
  stopProcess,
  waitUntilReady,
} from '../../src/cli/private/process.ts'
import { pingRspamd } from '../../src/ports/spam-filter/rspamd/rspamd.ts'
import { type DnsZoneFile, startDns } from './dns.ts'

/** A real rspamd with Debian's rules and a real Redis, on loopback; its DNS server is one of the tests, so that it asks nobody. */
export interface TestRspamd {
  /** The normal worker. */
  readonly url: string
  readonly controller: string
  readonly password: string
  /** How long it took to start. */
  readonly startMs: number
  /** Its DNS server, `ip:port`. */
  readonly dns: Endpoint
  /** The settings of Mailroom that name it. */
  readonly settings: Readonly<Record<string, string>>
  /** The CPU time so far of all processes of rspamd, and of Redis, in milliseconds. */
  cpuTimeMs(): { readonly rspamd: number; readonly redis: number }
  /** Sends a signal to all processes of rspamd, not to Redis. */
  signal(name: NodeJS.Signals): void
  /** Starts it again on the same ports, once it was killed. */
  start(): Promise<void>
  close(): Promise<void>
}

const password = 'taught-by-tests'

export interface TestRspamdOptions {
  /** What its DNS server knows. */
  readonly zone?: DnsZoneFile
  /** How many messages of each kind its classifier learns before it judges; 200, as Debian has it. */
  readonly minLearned?: number
}

/** Starts both. */
export async function startRspamd({ zone = {}, minLearned = 200 }: TestRspamdOptions = {}): Promise<TestRspamd> {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-rspamd-'))
  const at = (name: string) => join(folder, name)
  for (const name of ['run', 'db', 'log', 'conf/local.d', 'conf/override.d', 'redis'])
    mkdirSync(at(name), { recursive: true })
  const account = serviceAccountFor(folder, '_rspamd')
  const dns = await startDns(zone)
  const redis = startProcess(
    [
      findProgram('redis-server', 'redis-server'),
      ...['--port', '0', '--unixsocket', at('redis/sock'), '--dir', at('redis')],
      ...['--save', '', '--appendonly', 'no', '--daemonize', 'no'],
    ],
    { folder, log: at('log/redis.log') },
  )
  const [normalPort, controllerPort] = [freePort(), freePort()]
  const url = `http://127.0.0.1:${normalPort}`
  const controller = `http://127.0.0.1:${controllerPort}`
  const files = {
    'local.d/options.inc': `dns { nameserver = ["127.0.0.1:${dns.endpoint.port}"]; timeout = 1s; retransmits = 1; }
# Compiling its expressions and the suffixes of all domains takes most of a minute.
disable_hyperscan = true;
url_tld = "${at('conf/suffixes')}";
`,
    suffixes: 'com\norg\nnet\nde\nexample\ntest\n',
    'local.d/logging.inc': `type = "file"; filename = "${at('log/rspamd.log')}"; level = "warning";\n`,
    'override.d/worker-normal.inc': `bind_socket = "127.0.0.1:${normalPort}"; count = 2;\n`,
    'override.d/worker-controller.inc': `bind_socket = "127.0.0.1:${controllerPort}"; password = "${password}"; secure_ip = [];\n`,
    'override.d/worker-proxy.inc': 'enabled = false;\n',
    'local.d/redis.conf': `servers = "${at('redis/sock')}";\n`,
    // What would ask a server of rspamd's.
    'local.d/fuzzy_check.conf': 'enabled = false;\n',
    'local.d/rbl.conf': 'enabled = false;\n',
    'local.d/asn.conf': 'enabled = false;\n',
    'local.d/phishing.conf': 'openphish_enabled = false; phishtank_enabled = false;\n',
    'local.d/classifier-bayes.conf': `autolearn = false; min_learns = ${minLearned};\n`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(at(`conf/${name}`), text)
  if (account && account.uid !== 0) Bun.spawnSync(['chown', '-R', `${account.uid}:${account.gid}`, folder])

  let pid = 0
  const start = async () => {
    const as = account ? ['--insecure'] : []
    const vars = { RUNDIR: at('run'), DBDIR: at('db'), LOGDIR: at('log'), LOCAL_CONFDIR: at('conf') }
    pid = startProcess(
      [
        findProgram('rspamd', 'rspamd'),
        ...['--no-fork', '--config', '/etc/rspamd/rspamd.conf', ...as],
        ...Object.entries(vars).map(([name, value]) => `--var=${name}=${value}`),
      ],
      { folder, log: at('log/out.log') },
    )
    const server = { name: 'rspamd', pid, log: at('log/out.log'), timeoutMs: 60_000 }
    await waitUntilReady(server, async () => (await pingRspamd(url, 500)) && (await pingRspamd(controller, 500)))
  }
  const close = async () => {
    if (pid !== 0) await stopProcess(pid, 10_000)
    await stopProcess(redis, 5000)
    await dns.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const startedMs = performance.now()
  try {
    await start()
  } catch (error) {
    await close()
    throw error
  }
  return {
    startMs: performance.now() - startedMs,
    dns: dns.endpoint,
    url,
    controller,
    password,
    settings: {
      MAILROOM_RSPAMD: url,
      MAILROOM_RSPAMD_CONTROLLER: controller,
      MAILROOM_RSPAMD_PASSWORD: password,
    },
    cpuTimeMs: () => ({
      rspamd: processesOf(pid).reduce((sum, each) => sum + cpuTimeMs(each), 0),
      redis: cpuTimeMs(redis),
    }),
    signal(name) {
      for (const each of processesOf(pid)) process.kill(each, name)
    },
    start,
    close,
  }
}

/** The process and its children. */
function processesOf(pid: number): readonly number[] {
  const listed = Bun.spawnSync(['ps', '-o', 'pid=', '--ppid', String(pid)]).stdout.toString()
  return [pid, ...listed.split('\n').map(Number).filter(Boolean)]
}
