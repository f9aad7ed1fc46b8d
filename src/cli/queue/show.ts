import { type Instant, millisecondsOf, systemClock, toIso } from '../../base/clock.ts'
import { CommandError } from '../../base/operator-error.ts'
import { selectRecipients } from '../../sending/events/table.ts'
import { countDestinations, countQueue, type QueueCount } from '../../sending/queue/count-table.ts'
import { type QueueRow, selectQueue, selectQueuedEmail } from '../../sending/queue/table.ts'
import { type CommandOutput, type Environment, readArguments, withDatabase } from '../command.ts'
import { requireOrganization } from '../ids.ts'
import { readCount } from '../option-values.ts'
import { readEmailId, readQueueFilter } from './filter.ts'

/** More recipients than an email has. */
const wholeEmail = 1000

export async function runList(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const called = readArguments(args, { options: ['org', 'domain', 'status', 'limit'], flags: ['held'] })
  const filter = { ...readQueueFilter(called), ...(called.flags.has('held') && { isHeld: true }) }
  const limit = readCount(called.options, 'limit', 100)
  const now = systemClock.now()
  const { rows, counted } = await withDatabase(env, async db => {
    if (filter.organizationId !== undefined) await requireOrganization(db, filter.organizationId)
    return { rows: await selectQueue(db, filter, { after: '', limit: limit + 1 }), counted: await countQueue(db, now) }
  })
  const shown = rows.slice(0, limit).map(row => toJsonQueueRow(row, now))
  const hasMore = rows.length > limit
  return {
    json: { queue: toJsonQueueCount(counted), recipients: shown, has_more: hasMore },
    text: [...shown.map(line), ...(hasMore ? ['…and more: --limit shows them.'] : []), countLine(counted, now)].join(
      '\n',
    ),
  }
}

export async function runDomains(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const limit = readCount(readArguments(args, { options: ['limit'] }).options, 'limit', 100)
  const now = systemClock.now()
  const rows = await withDatabase(env, db => countDestinations(db, now, limit))
  return {
    json: rows.map(({ destination, ...counted }) => ({ domain: destination, ...toJsonQueueCount(counted) })),
    text:
      rows.map(({ destination, ...counted }) => `${destination}  ${countLine(counted, now)}`).join('\n') ||
      'The queue is empty.',
  }
}

export async function runShow(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const [text = ''] = readArguments(args, { words: ['EMAIL'] }).words
  const id = readEmailId(text)
  const now = systemClock.now()
  const { email, recipients, rows } = await withDatabase(env, async db => ({
    email: await selectQueuedEmail(db, id),
    recipients: await selectRecipients(db, [id]),
    rows: await selectQueue(db, { emailIds: [id] }, { after: '', limit: wholeEmail }),
  }))
  if (!email) throw new CommandError(`There is no email ${id}.`)
  const waiting = new Map(rows.map(row => [row.recipient, row]))
  const told = recipients.map(each => {
    const row = waiting.get(each.email)
    const { email: recipient, status, smtp_code, enhanced_code, detail } = each
    return { recipient, status, smtp_code, enhanced_code, detail, queue: row ? toJsonQueueRow(row, now) : null }
  })
  const { from_address: from, created_at, expires_at, ...rest } = email
  const lines = told.map(
    ({ recipient, status, queue, smtp_code, detail }) =>
      `  ${recipient}  ${status}  ${queue ? describeState(queue) : 'not in the queue'}${reply(smtp_code, detail)}`,
  )
  return {
    json: { ...rest, from, accepted_at: toIso(created_at), expires_at: toIso(expires_at), recipients: told },
    text: [
      `${id}  ${email.status}  from ${from}  ${JSON.stringify(email.subject)}`,
      `  of ${email.organization_id}, accepted ${toIso(created_at)}, failed unless sent by ${toIso(expires_at)}`,
      ...lines,
    ].join('\n'),
  }
}

function reply(code: number | null, detail: string | null): string {
  const text = [code, detail].filter(part => part !== null).join(' ')
  return text === '' ? '' : `\n    ${text}`
}

type QueueRecipientJson = ReturnType<typeof toJsonQueueRow>

function toJsonQueueRow(row: QueueRow, now: Instant) {
  const isInFlight = row.lease !== null && row.dueAt > now
  const time = (at: Instant | null) => at && toIso(at)
  return {
    email_id: row.emailId,
    organization_id: row.organizationId,
    from: row.fromAddress,
    recipient: row.recipient,
    status: row.status,
    in_flight: isInFlight,
    accepted_at: toIso(row.acceptedAt),
    scheduled_at: time(row.scheduledAt),
    next_attempt_at: isInFlight || row.heldAt !== null ? null : toIso(row.dueAt),
    expires_at: toIso(row.expiresAt),
    attempts: row.attempts,
    last_reply: row.lastReply,
    held_at: time(row.heldAt),
    held_reason: row.heldReason,
  }
}

function describeState(row: QueueRecipientJson): string {
  const { held_at, held_reason, in_flight, next_attempt_at, expires_at } = row
  const flight = in_flight ? 'being submitted' : undefined
  const held = held_at && `held since ${held_at}${held_reason ? ` (${held_reason})` : ''}, fails ${expires_at}`
  return [flight, held].filter(Boolean).join(', ') || `next attempt ${next_attempt_at}`
}

function line(row: QueueRecipientJson): string {
  const last = row.last_reply === null ? '' : `\n    ${row.last_reply}`
  const tries = `${row.attempts} ${row.attempts === 1 ? 'attempt' : 'attempts'}`
  return `${row.email_id}  ${row.recipient}  ${row.status}  ${tries}  ${describeState(row)}${last}`
}

function toJsonQueueCount({ total, held, inFlight, due, later, oldestDueAt, oldestTriedAt }: QueueCount) {
  return {
    total,
    held,
    in_flight: inFlight,
    due,
    later,
    oldest_due_at: oldestDueAt && toIso(oldestDueAt),
    oldest_tried_at: oldestTriedAt && toIso(oldestTriedAt),
  }
}

function countLine({ total, held, inFlight, due, later, oldestDueAt }: QueueCount, now: Instant): string {
  const late =
    oldestDueAt === null
      ? ''
      : ` (the oldest for ${Math.round((millisecondsOf(now) - millisecondsOf(oldestDueAt)) / 1000)} s)`
  return `${total} in the queue: ${due} due${late}, ${inFlight} being submitted, ${later} later, ${held} held.`
}
