import { afterAll, beforeAll, expect, test } from 'bun:test'
import { killAtWrite, type WriteStep } from '../../../harness/kill-at-write.ts'
import { type Mailroom, startMailroom } from '../../../harness/mailroom.ts'
import { retryUntilSettled } from '../../../harness/retrying-clients.ts'
import type { SmtpClient } from '../../../harness/smtp-client.ts'
import { loggedIn, mime, submitMessage } from '../../../harness/submission.ts'
import { until } from '../../../harness/until.ts'

/** The process is killed at each step of a submission, and at random moments while several clients submit. */
const rounds = process.env['MAILROOM_TEST_LONG'] ? 50 : 5

const steps: readonly (WriteStep | 'random')[] = [
  { table: 'idempotency_keys', write: 'INSERT' },
  { table: 'emails', write: 'INSERT' },
  'random',
  { table: 'outbox', write: 'INSERT' },
  { table: 'idempotency_keys', write: 'UPDATE' },
  { table: 'blobs', write: 'INSERT' },
  { table: 'thread_references', write: 'INSERT' },
  { table: 'email_recipients', write: 'INSERT' },
]

let mailroom: Mailroom

beforeAll(async () => {
  mailroom = await startMailroom({
    MAILROOM_SUBMISSION_LISTEN: '127.0.0.1:0',
    MAILROOM_ROLES: 'http,submission',
  })
}, 60_000)
afterAll(async () => {
  await mailroom?.stop()
}, 60_000)

const clients = 4
/** What was begun, by subject; null: no reply said that it was accepted yet. */
const attempted = new Map<string, string | null>()

const acknowledged = () => [...attempted.values()].filter(id => id !== null).length

function messageOf(subject: string): string {
  const header = ['From: hello@demo.test', 'To: bob@friend.test', `Subject: ${subject}`]
  return mime([...header, `X-Mailroom-Idempotency-Key: key of ${subject}`], `This is ${subject}.\r\n`)
}

/** Undefined: the connection ended without a reply, or the reply says to try again. */
async function attempt(subject: string, client: SmtpClient): Promise<string | undefined> {
  attempted.set(subject, attempted.get(subject) ?? null)
  const reply = await submitMessage(client, { message: messageOf(subject) })
  if (reply.startsWith('4')) return undefined
  const [, id] = /^250 2\.0\.0 queued as (eml_\S+)$/.exec(reply) ?? []
  if (!id) throw new Error(`${subject}: ${reply}`)
  expect(attempted.get(subject) ?? id).toBe(id)
  attempted.set(subject, id)
  return id
}

async function submitUntilKilled(name: string, isOver: () => boolean): Promise<void> {
  const client = await loggedIn(mailroom.submission, mailroom.key, false)
  try {
    for (let i = 0; !isOver(); i++) await attempt(`${name} ${i}`, client)
  } catch (error) {
    if (!String(error).includes('the connection ended')) throw error
  } finally {
    client.hangUp()
  }
}

async function killAtRandom(round: number): Promise<void> {
  let isOver = false
  const working = Array.from({ length: clients }, (_, i) =>
    submitUntilKilled(`round ${round}, client ${i}:`, () => isOver),
  )
  const before = acknowledged()
  await until(() => acknowledged() >= before + 20, { what: 'twenty emails are acknowledged', withinMs: 20_000 })
  await Bun.sleep(50 * Math.random())
  await mailroom.kill('SIGKILL')
  isOver = true
  await Promise.all(working)
  await mailroom.restart()
}

async function killAt(step: WriteStep, round: number): Promise<void> {
  await killAtWrite(mailroom, step, async () => {
    const client = await loggedIn(mailroom.submission, mailroom.key, false)
    await attempt(`round ${round}: ${step.write} of ${step.table}`, client)
  })
}

test(
  `killed ${rounds} times, it loses nothing that it acknowledged and accepts nothing twice`,
  async () => {
    for (let round = 0; round < rounds; round++) {
      const step = steps[round % steps.length] ?? 'random'
      if (step === 'random') await killAtRandom(round)
      else await killAt(step, round)
    }
    // As if the leases of the dead processes on idempotency keys had expired.
    await mailroom.database.db
      .updateTable('idempotency_keys')
      .set(({ ref }) => ({ leased_until: ref('created_at') }))
      .where('status', 'is', null)
      .execute()
    const acknowledgedBefore = acknowledged()
    const client = await loggedIn(mailroom.submission, mailroom.key, false)
    for (const subject of attempted.keys()) await retryUntilSettled(() => attempt(subject, client), subject)
    client.hangUp()

    const emails = await mailroom.database.db.selectFrom('emails').select(['id', 'subject']).execute()
    const stored = Map.groupBy(emails, ({ subject }) => subject)
    const lost = [...attempted].filter(([subject, id]) => !stored.get(subject)?.some(email => email.id === id))
    const doubled = [...stored].filter(([, ofSubject]) => ofSubject.length > 1)
    process.stdout.write(
      `submission, ${rounds} kills: ${attempted.size} messages begun, ${acknowledgedBefore} acknowledged by then, ${lost.length} lost, ${doubled.length} doubled\n`,
    )
    expect({ lost, doubled }).toEqual({ lost: [], doubled: [] })
    expect(emails).toHaveLength(attempted.size)
    expect(acknowledgedBefore).toBeGreaterThanOrEqual(20)
  },
  rounds * 20_000,
)
