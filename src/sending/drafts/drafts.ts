import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { applyChange, ifUpdatedAtRefusals, requireUnchanged } from '../../api/if-updated-at.ts'
import { pageSize, readIdCursor } from '../../api/page.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { pageWithinBytes } from '../page-within-bytes.ts'
import { readDraftChange } from './content.ts'
import type { DraftScope, DraftsDeps } from './deps.ts'
import { type DraftChange, type DraftJson, toJsonDraft } from './schema.ts'
import {
  type DraftRow,
  deleteDraft,
  insertDraft,
  lockDraft,
  selectDraft,
  selectDraftSizes,
  selectDrafts,
  updateDraft,
} from './table.ts'

/** Drafts, newest first. @throws Refusal `invalid_cursor` */
export async function listDrafts(
  { db }: DraftsDeps,
  { organizationId }: DraftScope,
  query: { readonly limit?: string; readonly cursor?: string },
): Promise<{ data: DraftJson[]; next_cursor: string | null }> {
  const limit = pageSize(query.limit)
  const found = await selectDraftSizes(db, organizationId, {
    after: readIdCursor('drf', query.cursor),
    limit: limit + 1,
  })
  const { ids, nextCursor } = pageWithinBytes(found, limit)
  return { data: (await selectDrafts(db, organizationId, ids)).map(toJsonDraft), next_cursor: nextCursor }
}

/** One draft. @throws Refusal `not_found` */
export async function readDraft({ db }: DraftsDeps, scope: DraftScope, id: string): Promise<DraftJson> {
  return toJsonDraft(await requireDraft(db, scope, id))
}

/** The refusals of {@link requireDraft}. */
export const draftRefusals = ['not_found'] as const

/** The draft with this id. @throws Refusal `not_found` */
export async function requireDraft(db: Db, { organizationId }: DraftScope, id: string): Promise<DraftRow> {
  const row = isId('drf', id) ? await selectDraft(db, { organization_id: organizationId, id }) : undefined
  return row ?? noDraft(id)
}

/** @throws Refusal `not_found` */
function noDraft(id: string): never {
  throw refuse('not_found', { message: `There is no draft ${id.slice(0, 80)}.` })
}

/** Creates a draft. @throws Refusal `not_found` for `brand_id` and `in_reply_to`, `invalid_request` */
export async function createDraft(
  deps: DraftsDeps,
  scope: DraftScope,
  body: DraftChange,
  reservation?: Reservation,
): Promise<DraftJson> {
  const change = await readDraftChange(deps, scope, body, blank)
  const at = deps.clock.now()
  const row: DraftRow = {
    ...blank,
    id: newId('drf'),
    organization_id: scope.organizationId,
    created_at: at,
    updated_at: at,
    ...change,
  }
  const draft = toJsonDraft(row)
  await inTransaction(deps.db, async tx => {
    await insertDraft(tx, row)
    await storeResponse(tx, reservation, { status: 201, body: draft })
  })
  return draft
}

const none = toJson<readonly string[]>([])
const blank = {
  brand_id: null,
  from_header: null,
  to_addresses: none,
  cc_addresses: none,
  bcc_addresses: none,
  reply_to: none,
  subject: null,
  text: null,
  in_reply_to: null,
}

/** The refusals of {@link changeDraft} beyond those of its content. */
export const changeDraftRefusals = [...draftRefusals, ...ifUpdatedAtRefusals] as const

/**
 * Changes what is given; null empties.
 * @throws Refusal `not_found` (also for `brand_id`, `in_reply_to`), `changed_since_read`, `invalid_request`
 */
export async function changeDraft(
  deps: DraftsDeps,
  scope: DraftScope,
  id: string,
  body: DraftChange,
  reservation?: Reservation,
): Promise<DraftJson> {
  const found = await requireDraft(deps.db, scope, id)
  const change = await readDraftChange(deps, scope, body, found)
  return inTransaction(deps.db, async tx => {
    const row = (await lockDraft(tx, found)) ?? noDraft(id)
    requireUnchanged(`The draft ${id}`, row, body)
    const next = applyChange(row, change, deps.clock.now(), toJsonDraft)
    if (next !== row) await updateDraft(tx, next)
    const draft = toJsonDraft(next)
    await storeResponse(tx, reservation, { status: 200, body: draft })
    return draft
  })
}

/** Deletes a draft. @throws Refusal `not_found` */
export async function removeDraft(
  deps: DraftsDeps,
  scope: DraftScope,
  id: string,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  const found = await requireDraft(deps.db, scope, id)
  return inTransaction(deps.db, async tx => {
    const row = (await lockDraft(tx, found)) ?? noDraft(id)
    await deleteDraft(tx, row)
    const body = { id: row.id, deleted: true } as const
    await storeResponse(tx, reservation, { status: 200, body })
    return body
  })
}
