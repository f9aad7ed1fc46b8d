import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromJson } from '../../src/base/database/schema.ts'
import { expireLeases } from '../harness/claim.ts'
import { projectRoot } from '../harness/cli.ts'
import { type Mailroom, type MailroomProcess, startMailroom, startProcess } from '../harness/mailroom.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { until } from '../harness/until.ts'

const secretKeyFile = join(tmpdir(), `mailroom-secret-${crypto.randomUUID()}`)
const impatientServe = [process.execPath, '--no-env-file', join(import.meta.dir, '../harness/impatient-serve.ts')]

let relay: ScriptedRelay
/** One process that has no part in the tests but its database; `relay` and `webhooks` are the others'. */
let mailroom: Mailroom
/** Two processes on that database. */
let processes: MailroomProcess

beforeAll(async () => {
  writeFileSync(secretKeyFile, Buffer.alloc(32, 1).toString('base64'))
  relay = await startScriptedRelay({ dot: '' })
  mailroom = await startMailroom({
    ...{ MAILROOM_PROVIDER: 'smarthost', MAILROOM_SMARTHOST_URL: relay.url, MAILROOM_ROLES: 'http,smtp' },
    MAILROOM_SECRET_KEY_FILE: secretKeyFile,
  })
  processes = await startImpatient()
}, 90_000)

afterAll(async () => {
  await processes?.kill('SIGKILL')
  await mailroom?.stop()
  await relay?.close()
  rmSync(secretKeyFile, { force: true })
}, 60_000)

async function startImpatient(): Promise<MailroomProcess> {
  const settings = { ...mailroom.settings, MAILROOM_ROLES: 'http,smtp,relay,webhooks' }
  const started = await startProcess(settings, projectRoot, impatientServe)
  // Each of the two writes lines of its own, which may come after those of the parent.
  await until(() => started.log.filter(({ msg }) => msg === 'process started').length === 2, { what: 'two processes' })
  return started
}

/** The latest process with this number: 1 or 2. */
function pidOf(number: number): number {
  const again = processes.log.findLast(line => line.msg === 'a process serves again' && line['process'] === number)
  const first = processes.log.filter(({ msg }) => msg === 'process started')[number - 1]
  return Number(again?.['process_pid'] ?? first?.['pid'])
}

async function metric(name: string): Promise<number> {
  const address = processes.log.find(({ msg }) => msg === 'serving')?.['metrics']
  const text = await (await fetch(`http://${address}/metrics`)).text()
  const line = text.split('\n').find(candidate => candidate.startsWith(`${name} `))
  return Number(line?.split(' ')[1] ?? 0)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const linesWith = (msg: string) => processes.log.filter(line => line.msg === msg)

test('a process whose event loop does not run is killed and started again, and one that is busy for a moment is not', async () => {
  const [first, second] = [pidOf(1), pidOf(2)]
  process.kill(first, 'SIGSTOP')
  await Bun.sleep(1000)
  process.kill(first, 'SIGCONT')
  process.kill(second, 'SIGSTOP')
  await until(() => linesWith('a process serves again').length === 1, { what: 'the second is started again' })
  expect(linesWith('a process did not respond and was killed')).toMatchObject([
    { level: 50, process: 2, process_pid: second, state: 'T (stopped)' },
  ])
  const silentMs = Number(linesWith('a process did not respond and was killed')[0]?.['silent_ms'])
  expect(silentMs).toBeGreaterThanOrEqual(3000)
  expect(silentMs).toBeLessThan(4000)
  expect(isRunning(second)).toBe(false)
  expect(pidOf(1)).toBe(first)
  expect(await metric('mailroom_process_hung_total{process="2"}')).toBe(1)
  expect(await metric('mailroom_process_restarts_total{process="2"}')).toBe(1)
}, 30_000)

test('what the first process submitted when it was killed is submitted by its successor, once the claim has expired', async () => {
  const { json } = await mailroom.api('POST', '/v1/emails', {
    ...{ from: 'hello@demo.test', to: 'bob@dest.example', subject: 'Hi', text: 'Hi' },
  })
  const dots = () => relay.commands.filter(command => command.endsWith(' DATA')).length
  await until(() => dots() === 1, { what: 'it is being submitted', details: () => relay.commands.join('\n') })
  relay.setScript({})
  process.kill(pidOf(1), 'SIGKILL')
  await until(() => linesWith('a process serves again').length === 2, { what: 'the first is started again' })
  const row = await mailroom.database.db.selectFrom('outbox').select(['submitting', 'due_at']).executeTakeFirstOrThrow()
  expect(row.submitting).toBe(1)
  await expireLeases(mailroom.database.db)
  await until(() => relay.accepted.length === 1, { what: 'it is submitted again' })
  await until(async () => (await mailroom.api('GET', `/v1/emails/${json.id}`)).json.status === 'sent', { what: 'sent' })
  const events = await mailroom.database.db.selectFrom('email_events').select('extra').execute()
  expect(events.some(({ extra }) => fromJson(extra)['ambiguous'] === true)).toBe(true)
}, 60_000)

test('a process that hangs while all end is killed, so that the others do not wait for it', async () => {
  const pids = [pidOf(1), pidOf(2)]
  process.kill(pidOf(2), 'SIGSTOP')
  expect(await processes.kill('SIGTERM')).toBe(0)
  expect(pids.filter(isRunning)).toEqual([])
  expect(linesWith('a process did not respond and was killed').at(-1)).toMatchObject({ process: 2 })
}, 60_000)

test('a process that cannot be started again eight times in a row ends all, with its exit status', async () => {
  processes = await startImpatient()
  writeFileSync(secretKeyFile, Buffer.alloc(32, 2).toString('base64'))
  const [first, second] = [pidOf(1), pidOf(2)]
  process.kill(second, 'SIGKILL')
  await until(() => linesWith('a process could not be started again: all processes end').length === 1, {
    what: 'it is given up',
    withinMs: 40_000,
  })
  // Once because it was killed, and then after each start but the eighth.
  expect(linesWith('a process died: it is started again').length).toBe(8)
  expect(await processes.kill('SIGCONT')).toBe(2)
  expect(isRunning(first)).toBe(false)
}, 90_000)
