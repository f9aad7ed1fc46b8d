import { type Instant, millisecondsOf, systemClock, toIso } from '../../base/clock.ts'
import { CommandError } from '../../base/operator-error.ts'
import { selectRecipients } from '../../sending/events/table.ts'
import { countDestinations, countQueue, type QueueCount } from '../../sending/queue/count-table.ts'
import { toJsonQueueCount, toJsonQueueRow } from '../../sending/queue/schema.ts'
import { selectQueue, selectQueuedEmail } from '../../sending/queue/table.ts'
import { defineCommand } from '../command.ts'
import { withDatabase } from '../database.ts'
import { requireOrganization } from '../require-organization.ts'
import { emailId, limit } from '../values.ts'
import { filterOptions, queueFilter } from './filter.ts'

/** More recipients than an email can have. */
const maxRecipients = 1000

export const list = defineCommand({
  name: 'queue list',
  summary: 'List what waits to be sent, and count it',
  details: `The recipients that were accepted first come first, each with the next attempt and the last reply. The counts are
of the whole queue.`,
  options: { ...filterOptions, held: { description: 'only recipients that are held' }, limit },
  async run({ org, domain, status, held, limit }, { env }) {
    const filter = { ...queueFilter({ org, domain, status }), ...(held && { isHeld: true }) }
    const now = systemClock.now()
    const { rows, count } = await withDatabase(env, async db => {
      if (org !== undefined) await requireOrganization(db, org)
      return { rows: await selectQueue(db, filter, { after: '', limit: limit + 1 }), count: await countQueue(db, now) }
    })
    const recipients = rows.slice(0, limit).map(row => toJsonQueueRow(row, now))
    const hasMore = rows.length > limit
    return {
      json: { queue: toJsonQueueCount(count), recipients, has_more: hasMore },
      text: [
        ...recipients.map(describeRow),
        ...(hasMore ? ['…and more: --limit shows them.'] : []),
        describeCount(count, now),
      ].join('\n'),
    }
  },
})

export const domains = defineCommand({
  name: 'queue domains',
  summary: 'List the recipient domains with the most mail waiting',
  options: { limit },
  async run({ limit }, { env }) {
    const now = systemClock.now()
    const counts = await withDatabase(env, db => countDestinations(db, now, limit))
    const lines = counts.map(({ destination, ...count }) => `${destination}  ${describeCount(count, now)}`)
    return {
      json: counts.map(({ destination, ...count }) => ({ domain: destination, ...toJsonQueueCount(count) })),
      text: lines.join('\n') || 'The queue is empty.',
    }
  },
})

export const show = defineCommand({
  name: 'queue show',
  summary: 'Show all recipients of an email, also those that are finished',
  arguments: { id: emailId },
  async run({ id }, { env }) {
    const now = systemClock.now()
    const { email, recipientRows, queueRows } = await withDatabase(env, async db => ({
      email: await selectQueuedEmail(db, id),
      recipientRows: await selectRecipients(db, [id]),
      queueRows: await selectQueue(db, { emailIds: [id] }, { after: '', limit: maxRecipients }),
    }))
    if (!email) throw new CommandError(`There is no email ${id}.`)
    const waiting = new Map(queueRows.map(row => [row.recipient, row]))
    const recipients = recipientRows.map(({ email: recipient, status, smtp_code, enhanced_code, detail }) => {
      const row = waiting.get(recipient)
      return { recipient, status, smtp_code, enhanced_code, detail, queue: row ? toJsonQueueRow(row, now) : null }
    })
    const lines = recipients.map(
      ({ recipient, status, queue, smtp_code, detail }) =>
        `  ${recipient}  ${status}  ${queue ? describeState(queue) : 'not in the queue'}${describeReply(smtp_code, detail)}`,
    )
    const { from_address: from, created_at, expires_at, ...rest } = email
    return {
      json: { ...rest, from, accepted_at: toIso(created_at), expires_at: toIso(expires_at), recipients },
      text: [
        `${id}  ${email.status}  from ${from}  ${JSON.stringify(email.subject)}`,
        `  of ${email.organization_id}, accepted ${toIso(created_at)}, fails unless sent by ${toIso(expires_at)}`,
        ...lines,
      ].join('\n'),
    }
  },
})

function describeReply(code: number | null, detail: string | null): string {
  const text = [code, detail].filter(part => part !== null).join(' ')
  return text === '' ? '' : `\n    ${text}`
}

type QueueRecipientJson = ReturnType<typeof toJsonQueueRow>

function describeState(row: QueueRecipientJson): string {
  const { held_at, held_reason, in_flight, next_attempt_at, expires_at } = row
  const submission = in_flight ? 'being submitted' : undefined
  const hold = held_at && `held since ${held_at}${held_reason ? ` (${held_reason})` : ''}, fails ${expires_at}`
  return [submission, hold].filter(Boolean).join(', ') || `next attempt ${next_attempt_at}`
}

function describeRow(row: QueueRecipientJson): string {
  const last = row.last_reply === null ? '' : `\n    ${row.last_reply}`
  const attempts = `${row.attempts} ${row.attempts === 1 ? 'attempt' : 'attempts'}`
  return `${row.email_id}  ${row.recipient}  ${row.status}  ${attempts}  ${describeState(row)}${last}`
}

function describeCount({ total, held, inFlight, due, later, oldestDueAt }: QueueCount, now: Instant): string {
  const oldest =
    oldestDueAt === null
      ? ''
      : ` (the oldest for ${Math.round((millisecondsOf(now) - millisecondsOf(oldestDueAt)) / 1000)} s)`
  return `${total} in the queue: ${due} due${oldest}, ${inFlight} being submitted, ${later} later, ${held} held.`
}
