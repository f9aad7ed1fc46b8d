import { brandIdRefusals, loadBrand } from '../accounts/brands/brands.ts'
import type { Caller } from '../api/caller.ts'
import { pageSize } from '../api/page.ts'
import { scopeRefusals } from '../api/route.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { refuse } from '../base/refusal.ts'
import { eventCursorRefusals, readEventCursor } from './cursor.ts'
import {
  type EventType,
  eventTypeRefusals,
  eventTypes,
  requireEventType,
  scopeOfEvent,
  typesShownTo,
} from './event-types.ts'
import type { EventFilter } from './table.ts'

/** The query parameters of the feed, as they come. */
export interface FeedQuery {
  readonly after?: string
  readonly limit?: string
  readonly types?: string
  readonly brand_id?: string
  readonly mailbox_id?: string
  readonly wait?: string
}

/** What a reader of the feed asks for. */
export interface FeedRequest {
  /** The sequence after which to go on. */
  readonly after: number
  readonly limit: number
  /** null: all that the reader may see. */
  readonly types: readonly EventType[] | null
  /** null: all brands that the reader may see. */
  readonly brandId: Id<'brd'> | null
  /** null: whatever the mailbox. */
  readonly mailboxId: Id<'mbx'> | null
  /** For how long to wait for an event when there is none, in milliseconds. */
  readonly waitMs: number
}

/** The refusals of {@link readFeedRequest} and {@link visibleTo}. */
export const feedRequestRefusals = [
  ...eventTypeRefusals,
  ...eventCursorRefusals,
  ...brandIdRefusals,
  ...scopeRefusals,
] as const

/**
 * @param cursor where to go on, if it is not the query that says so
 * @throws Refusal `invalid_request` for a type that does not exist; for the cursor `invalid_cursor`, `cursor_expired`; for
 * `brand_id` `not_found`, `brand_restricted`
 */
export async function readFeedRequest(
  db: Db,
  caller: Caller,
  { after, limit, types, brand_id, mailbox_id, wait }: FeedQuery,
  cursor: string | undefined = after,
): Promise<FeedRequest> {
  const brand = brand_id === undefined ? null : await loadBrand(db, caller, brand_id, 'brand_id')
  return {
    after: await readEventCursor(db, caller.organizationId, cursor),
    limit: pageSize(limit),
    types: readEventTypes(types),
    brandId: brand?.id ?? null,
    mailboxId: (mailbox_id as Id<'mbx'> | undefined) ?? null,
    waitMs: Number(wait ?? 0) * 1000,
  }
}

/** The types of the query parameter `types`; null: it is absent. @throws Refusal `invalid_request` for a type that does not exist */
export function readEventTypes(types: string | undefined): readonly EventType[] | null {
  return types?.split(',').map(type => requireEventType(type.trim(), 'types')) ?? null
}

/**
 * The events of a request that the caller may see, as their key or membership is now.
 * @throws Refusal `insufficient_scope` where they may not see a type that they ask for, or none at all; `brand_restricted`
 */
export function visibleTo(
  caller: Caller,
  { types, brandId, mailboxId }: Pick<FeedRequest, 'types' | 'brandId' | 'mailboxId'>,
): EventFilter {
  if (caller.denial) throw refuse(caller.denial.code, { message: caller.denial.message })
  const shown = types ?? typesShownTo(caller.scopes)
  for (const type of shown) requireScopeOf(caller, type)
  if (shown.length === 0)
    throw lacksScope('inbox:read', 'Each type of event needs a scope that reads, and this has none:')
  return {
    organizationId: caller.organizationId,
    types: shown.length === eventTypes.length ? undefined : shown,
    brandId: brandId ?? caller.brandId,
    mailboxIds: mailboxId === null ? undefined : [mailboxId],
  }
}

function requireScopeOf(caller: Caller, type: EventType): void {
  const scope = scopeOfEvent(type)
  if (!caller.scopes.has(scope)) throw lacksScope(scope, `Events of the type ${type} need a scope that this lacks:`)
}

function lacksScope(scope: string, sentence: string) {
  return refuse('insufficient_scope', { message: `${sentence} ${scope}.`, reason: scope })
}
