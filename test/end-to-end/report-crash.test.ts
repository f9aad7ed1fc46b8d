import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { type DatabaseProxy, startDatabaseProxy } from '../harness/database-proxy.ts'
import { killAtWrite } from '../harness/kill-at-write.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { groupByEmail, headerValues, unstuffed } from '../harness/relayed-messages.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'
import { type ReportFacts, writeDsn, writeFeedback } from '../harness/write-reports.ts'

/** A process that dies while it records a report has recorded all or nothing of it, and the reporter's retry completes it. */
let relay: ScriptedRelay
let mailroom: Mailroom
let gate: DatabaseProxy

beforeAll(async () => {
  relay = await startScriptedRelay()
  mailroom = await startMailroom({
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
    MAILROOM_SECRET_KEY: randomBytes(32).toString('base64'),
  })
  gate = await startDatabaseProxy(mailroom.database.url)
}, 60_000)

afterAll(async () => {
  await mailroom?.stop()
  gate?.close()
  await relay?.close()
}, 60_000)

interface Sent extends ReportFacts {
  readonly id: string
}

const emailOf = async (id: string) => (await mailroom.api('GET', `/v1/emails/${id}`)).json

/** An email with the status sent. */
async function sent(address: string): Promise<Sent> {
  const fields = { from: 'hello@demo.test', to: address, subject: 'Hello', text: 'Hello' }
  const { json } = await mailroom.api('POST', '/v1/emails', fields)
  const taken = await until(() => groupByEmail(relay.accepted).get(json.id)?.[0], { what: `${json.id} at the relay` })
  await until(async () => (await emailOf(json.id)).status === 'sent', { what: `${json.id} sent` })
  const message = unstuffed(taken)
  expect(headerValues(message, 'X-Mailroom-Id')).toEqual([json.id])
  const header = message.slice(0, message.indexOf('\r\n\r\n') + 2)
  return { id: json.id, address, to: taken.from, header, name: `report.${json.id}`, dialect: 'postfix' }
}

const bounceOf = (email: Sent) => writeDsn({ kind: 'failed', reply: `550 5.1.1 No mailbox for ${email.id}` }, email)
const tell = ({ to }: Sent, report: string) => sendMail(mailroom.smtp, report, { from: '', to: [to] })

/** The state of an email: its status, its recipient's status, its events, and why the address is suppressed. */
async function stateOf({ id, address }: Sent) {
  const { json } = await mailroom.api(
    'GET',
    `/v1/suppressions/check?email=${address}&brand_id=${mailroom.demo.brand_id}`,
  )
  const { status, recipients, events } = await emailOf(id)
  const kinds = events.map((event: { type: string }) => event.type)
  return [status, recipients[0].status, kinds.join(' '), json.suppression?.reason ?? null]
}

const untouched = ['sent', 'sent', 'queued sent', null]
const bounced = ['bounced', 'bounced', 'queued sent bounced', 'hard_bounce']
const complained = ['complained', 'complained', 'queued sent complained', 'complaint']

const steps = [
  ['email_events', 'INSERT'],
  ['email_recipients', 'UPDATE'],
  ['emails', 'UPDATE'],
  ['suppressions', 'INSERT'],
] as const

for (const [table, write] of steps)
  test(`killed at its ${write} of ${table}, nothing of a bounce is recorded; reported again, it is recorded once`, async () => {
    const email = await sent(`${table.replace('_', '-')}@dest.example`)
    await killAtWrite(mailroom, { table, write }, () => tell(email, bounceOf(email)))
    expect(await stateOf(email)).toEqual(untouched)
    for (let again = 0; again < 2; again++) expect(await tell(email, bounceOf(email))).toStartWith('250 ')
    expect(await stateOf(email)).toEqual(bounced)
  }, 60_000)

for (const when of ['before', 'after'] as const)
  test(`killed ${when} its commit, a bounce is recorded ${when === 'before' ? 'not at all' : 'completely'}; reported again, once`, async () => {
    await mailroom.kill('SIGTERM')
    await mailroom.restart({ MAILROOM_DATABASE_URL: gate.url })
    const email = await sent(`${when}@dest.example`)
    const held = gate.pauseCommit(when, `No mailbox for ${email.id}`)
    const told = tell(email, bounceOf(email)).catch(() => 'no answer')
    await held
    await mailroom.kill('SIGKILL')
    expect(await told).toBe('no answer')
    await mailroom.restart({ MAILROOM_DATABASE_URL: mailroom.database.url })
    if (when === 'after') expect(await stateOf(email)).toEqual(bounced)
    // The database notices by and by that nobody is there any more, and rolls back.
    expect(await tell(email, bounceOf(email))).toStartWith('250 ')
    expect(await stateOf(email)).toEqual(bounced)
  }, 60_000)

test('killed between storing a complaint in a mailbox and counting it, it counts once when it is received again', async () => {
  const email = await sent('complainer@dest.example')
  const feedback = writeFeedback('abuse', { ...email, to: 'abuse@demo.test' })
  const send = () => sendMail(mailroom.smtp, feedback, { from: '', to: ['abuse@demo.test'] })
  await killAtWrite(mailroom, { table: 'email_events', write: 'INSERT' }, send)
  expect(await stateOf(email)).toEqual(untouched)
  for (let again = 0; again < 2; again++) expect(await send()).toStartWith('250 ')
  expect(await stateOf(email)).toEqual(complained)
}, 60_000)

/** After at most this time another process delivers the reports that the dead one had claimed. */
const leaseMs = 60_000

test('killed before it delivers the simulator’s reports, it delivers them once after the restart', async () => {
  const fields = { from: 'hello@demo.test', subject: 'Hello', text: 'Hello' }
  const send = async (to: string): Promise<string> =>
    (await mailroom.api('POST', '/v1/emails', { ...fields, to })).json.id
  const waiting = () => mailroom.database.db.selectFrom('simulated_reports').select('email_id').execute()
  const complains = await send('complaint@simulator.test')
  const bounces = await send('bounce@simulator.test')
  for (const id of [complains, bounces])
    await until(async () => (await emailOf(id)).sent_at !== null, { what: `${id} sent` })
  await mailroom.kill('SIGKILL')
  await mailroom.restart()
  for (const [id, status] of [
    [bounces, 'bounced'],
    [complains, 'complained'],
  ] as const)
    await until(async () => (await emailOf(id)).status === status, { what: `${id} ${status}`, withinMs: leaseMs })
  await until(async () => (await waiting()).length === 0, { what: 'nothing to be told', withinMs: leaseMs })
  const types = async (id: string) => (await emailOf(id)).events.map((event: { type: string }) => event.type)
  expect((await types(bounces)).filter((value: string) => value === 'bounced')).toEqual(['bounced'])
  expect((await types(complains)).filter((value: string) => value === 'complained')).toEqual(['complained'])
}, 180_000)
