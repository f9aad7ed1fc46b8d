import { cursorRefusals, decodeCursor, encodeCursor, invalidCursor, readInstant } from '../../../api/page.ts'
import { type Clock, type Instant, minuteMs, plusMs } from '../../../base/clock.ts'
import { type Db, inTransaction } from '../../../base/database/database.ts'
import { fromJson } from '../../../base/database/schema.ts'
import { newId } from '../../../base/ids.ts'
import { refuse } from '../../../base/refusal.ts'
import { type EventType, isEventType, requireEventType } from '../../event-types.ts'
import { selectLastSequence } from '../../table.ts'
import { typesOf } from '../schema.ts'
import type { WebhookRow } from '../table.ts'
import { findSequenceAt, selectReplayCandidates } from './replay-table.ts'
import type { ReplayRequest, replayResultSchema } from './schema.ts'
import { upsertDeliveries } from './table.ts'

/** A request replays at most so many events. */
const maxReplayed = 5000
/** Transactions may be open so long between the time of an event and its sequence. */
const marginMs = 10 * minuteMs
const rowsPerInsert = 500

type ReplayResult = typeof replayResultSchema.static

/** Which events of a webhook to deliver again. */
export interface Replay {
  readonly from: Instant
  readonly to: Instant
  /** Of those that the webhook has; null: all of them. */
  readonly types: readonly EventType[] | null
  readonly onlyFailed: boolean
  /** `next_cursor` of the request before; absent: this is the first. */
  readonly cursor?: string | null | undefined
  /** Counts the events, and delivers none. */
  readonly isDryRun?: boolean
}

/** The refusals of {@link replayEvents}. */
export const replayRefusals = cursorRefusals

/** @throws Refusal `invalid_request` */
export function readReplay(body: ReplayRequest, now: Instant): Replay {
  const from = readInstant(body.from, 'from')
  const to = body.to === undefined ? now : readInstant(body.to, 'to')
  if (from >= to) throw refuse('invalid_request', { message: '`from` is not before `to`.', param: 'from' })
  const types = body.types?.map((type, i) => requireEventType(type, `types[${i}]`)) ?? null
  return { from, to, types, onlyFailed: body.only === 'failed', cursor: body.cursor, isDryRun: body.dry_run ?? false }
}

function readCursor(cursor: string | null | undefined): number | null {
  if (cursor == null) return null
  const [text = ''] = decodeCursor(cursor, 1)
  if (!/^\d{1,15}$/.test(text)) throw invalidCursor(cursor)
  return Number(text)
}

/**
 * Makes the deliveries of past events due now, with the `webhook-id` that they had. Only events that the webhook has passed
 * are replayed: the others are still to come. Where there are more than a request replays, `next_cursor` goes on.
 * @param record writes who did it, in the same transaction
 * @throws Refusal `invalid_cursor`
 */
export async function replayEvents(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  webhook: WebhookRow,
  { from, to, types, onlyFailed, cursor, isDryRun = false }: Replay,
  record: (tx: Db, replayed: number) => Promise<void>,
): Promise<ReplayResult> {
  const subscribed = typesOf(webhook).filter(isEventType)
  const mailboxIds = fromJson(webhook.mailbox_ids)
  const selection = {
    webhookId: webhook.id,
    organizationId: webhook.organization_id,
    types: types ? subscribed.filter(type => types.includes(type)) : subscribed,
    brandId: webhook.brand_id,
    ...(mailboxIds.length > 0 && { mailboxIds, keepsOthers: true }),
    from,
    to,
    onlyFailed,
  }
  if (selection.types.length === 0) return { replayed: 0, next_cursor: null }
  const after = readCursor(cursor)
  const last = await selectLastSequence(db)
  const first = after === null ? await findSequenceAt(db, plusMs(from, -marginMs), last) : after + 1
  const through = Math.min(Number(webhook.read_through), await findSequenceAt(db, plusMs(to, marginMs), last))
  return inTransaction(db, async tx => {
    const found = await selectReplayCandidates(tx, selection, { first, through, limit: maxReplayed + 1 })
    const replayed = found.slice(0, maxReplayed)
    const newest = found.length > maxReplayed ? replayed.at(-1) : undefined
    const result = { replayed: replayed.length, next_cursor: newest ? encodeCursor(String(newest.sequence)) : null }
    if (isDryRun) return result
    const now = clock.now()
    const rows = replayed.map(event => ({
      id: newId('whd'),
      webhook_id: webhook.id,
      organization_id: webhook.organization_id,
      brand_id: event.brand_id,
      sequence: event.sequence,
      event_id: event.id,
      type: event.type,
      status: 'retrying' as const,
      attempt: 0,
      at: now,
      duration_ms: null,
      http_status: null,
      error: null,
      response: null,
      next_at: now,
    }))
    for (let i = 0; i < rows.length; i += rowsPerInsert) await upsertDeliveries(tx, rows.slice(i, i + rowsPerInsert))
    await record(tx, rows.length)
    return result
  })
}
