import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../../src/accounts/keys/keys.ts'
import { createOrganization } from '../../src/accounts/organizations/organizations.ts'
import { scopes } from '../../src/api/scope.ts'
import { systemClock } from '../../src/base/clock.ts'
import { createDemo, type DemoIds, demoDomain } from '../../src/cli/demo.ts'
import { projectRoot } from './cli.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'
import { fetchValidated } from './openapi-validation.ts'
import { until } from './until.ts'
import { childEnvironment } from './up.ts'

type Settings = Readonly<Record<string, string>>

/** A log line of a process. */
export interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [key: string]: unknown
}

export interface ApiResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any
}

/** A running `./mailroom serve`. Several may share a database. */
export interface MailroomProcess {
  /** The URL without a final slash; empty: HTTP is not a role of this process. */
  readonly http: string
  /** The port on 127.0.0.1; 0: SMTP is not a role of this process. */
  readonly smtp: number
  /** The ports of mail submission on 127.0.0.1, with STARTTLS and with implicit TLS; 0: it is not configured. */
  readonly submission: number
  readonly submissions: number
  readonly pid: number
  /** Its log lines so far, oldest first. */
  readonly log: readonly LogLine[]
  /** The peak of its resident memory since the last call, in bytes. */
  resetPeakMemory(): number
  /** Sends a signal. Resolves when it has ended, to its exit status (null: the signal killed it). */
  kill(signal: NodeJS.Signals): Promise<number | null>
}

/** A Mailroom with the organization, domain and mailboxes of `./mailroom up`: demo.test, hello@demo.test, a catch-all. */
export interface Mailroom extends MailroomProcess {
  readonly database: FreshDatabase
  readonly demo: DemoIds
  readonly key: string
  /** The settings of its next process. */
  readonly settings: Settings
  /** Sends a request with the key. */
  api(method: string, path: string, body?: object): Promise<ApiResponse>
  /** Starts it again after it ended, on other ports, with these settings added. */
  restart(more?: Settings): Promise<void>
  /** Starts another process on the same database, which ends with this one. */
  startSecondProcess(more?: Settings): Promise<MailroomProcess>
  /** Ends all processes and drops the database. */
  stop(): Promise<void>
}

const readyMs = 30_000
const endMs = 60_000

/** The settings for a process on this database: the local zone, the sandbox provider, the tests' clamd, free ports. */
export function testSettings(databaseUrl: string, varFolder: string): Record<string, string> {
  return {
    MAILROOM_DATABASE_URL: databaseUrl,
    MAILROOM_CLAMD: process.env['MAILROOM_TEST_CLAMD'] ?? '',
    MAILROOM_DNS_ZONE: 'local',
    MAILROOM_PROVIDER: 'sandbox',
    MAILROOM_HOSTNAME: `mail.${demoDomain}`,
    MAILROOM_HTTP_LISTEN: '127.0.0.1:0',
    MAILROOM_SMTP_LISTEN: '127.0.0.1:0',
    MAILROOM_METRICS_LISTEN: '127.0.0.1:0',
    MAILROOM_VAR: varFolder,
    MAILROOM_RATE_LIMIT_PER_MINUTE: '1000000000',
  }
}

/** Unless a test asks for more: they would share the processors with the other tests. The previous version has no such setting. */
const oneProcess: Settings = { MAILROOM_PROCESSES: '1' }

/** Starts `./mailroom serve` on a fresh database with {@link testSettings}. */
export async function startMailroom(env: Settings = {}): Promise<Mailroom> {
  const database = await freshDatabase(4)
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-whole-'))
  let settings: Settings = { ...oneProcess, ...testSettings(database.url, folder), ...env }
  const started: MailroomProcess[] = []
  const start = async (more: Settings = {}): Promise<MailroomProcess> => {
    const running = await startProcess({ ...settings, ...more })
    started.push(running)
    return running
  }
  const end = async () => {
    await Promise.all(started.map(mailroomProcess => mailroomProcess.kill('SIGTERM')))
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    let current = await start()
    const { id } = await createOrganization(database.db, { name: 'Demo', plan: 'unlimited' }, systemClock)
    const newKey = { organizationId: id, brandId: null, name: 'test', scopes, expiresAt: null }
    const { key } = await createKey(database.db, newKey, systemClock)
    const demo = await createDemo({ base: current.http, key }, database.db)
    return {
      get http() {
        return current.http
      },
      get smtp() {
        return current.smtp
      },
      get submission() {
        return current.submission
      },
      get submissions() {
        return current.submissions
      },
      get pid() {
        return current.pid
      },
      get log() {
        return current.log
      },
      get settings() {
        return settings
      },
      database,
      demo,
      key,
      resetPeakMemory: () => current.resetPeakMemory(),
      kill: signal => current.kill(signal),
      api: (method, path, body) => ask(`${current.http}${path}`, method, key, body),
      async restart(more = {}) {
        settings = { ...settings, ...more }
        current = await start()
      },
      startSecondProcess: start,
      stop: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function ask(url: string, method: string, key: string, body?: object): Promise<ApiResponse> {
  const response = await fetchValidated(url, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
}

/** Runs `./mailroom serve` of a checkout, or what stands for it, with only these settings. Resolves once it serves. */
export async function startProcess(
  settings: Settings,
  checkout = projectRoot,
  command: readonly string[] = [join(checkout, 'mailroom'), 'serve'],
): Promise<MailroomProcess> {
  const child = Bun.spawn([...command], {
    cwd: '/',
    env: childEnvironment(checkout === projectRoot ? { ...oneProcess, ...settings } : settings),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const log: LogLine[] = []
  let errorOutput = ''
  void readLines(child.stdout, line => log.push(JSON.parse(line)))
  void readLines(child.stderr, line => {
    errorOutput += `${line}\n`
  })
  const output = () => `${errorOutput}${log.map(line => JSON.stringify(line)).join('\n')}`
  const findServingLine = () => {
    const line = log.find(({ msg }) => msg === 'serving')
    if (!line && (child.exitCode !== null || child.signalCode !== null)) throw new Error(`serve ended:\n${output()}`)
    return line
  }
  const { http, smtp, submission, submissions } = await until(findServingLine, {
    what: 'the process serves',
    withinMs: readyMs,
    details: output,
  }).catch(error => {
    child.kill('SIGKILL')
    throw error
  })
  return {
    http: typeof http === 'string' ? http : '',
    smtp: portOf(smtp),
    submission: portOf(submission),
    submissions: portOf(submissions),
    pid: child.pid,
    log,
    resetPeakMemory: () => resetPeakMemory(child.pid),
    async kill(signal) {
      child.kill(signal)
      const timer = setTimeout(() => child.kill('SIGKILL'), endMs)
      await child.exited
      clearTimeout(timer)
      return child.exitCode
    },
  }
}

/** 0: there is no address. */
function portOf(address: unknown): number {
  return typeof address === 'string' ? Number(address.split(':').at(-1)) : 0
}

/** Reads the peak and resets it. */
function resetPeakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  // proc_pid_clear_refs(5): 5 resets the peak to the current resident size.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

async function readLines(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const bytes of stream) {
    const lines = (pending + decoder.decode(bytes, { stream: true })).split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}
