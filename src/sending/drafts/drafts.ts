import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeAnswer } from '../../api/idempotency/store.ts'
import { pageSize } from '../../api/page.ts'
import { type Instant, instantAt, microsecondsOf } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { boundPage, readPlace } from '../emails/bounded-page.ts'
import { readChange } from './content.ts'
import type { DraftsOwner, DraftsUse } from './deps.ts'
import { type DraftChange, type DraftShape, showDraft } from './schema.ts'
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
  { db }: DraftsUse,
  { organizationId }: DraftsOwner,
  query: { readonly limit?: string; readonly cursor?: string },
): Promise<{ data: DraftShape[]; next_cursor: string | null }> {
  const limit = pageSize(query.limit)
  const found = await selectDraftSizes(db, organizationId, { after: readPlace('drf', query.cursor), limit: limit + 1 })
  const { ids, nextCursor } = boundPage(found, limit)
  return { data: (await selectDrafts(db, organizationId, ids)).map(showDraft), next_cursor: nextCursor }
}

/** One draft. @throws Refusal `not_found` */
export async function readDraft({ db }: DraftsUse, owner: DraftsOwner, id: string): Promise<DraftShape> {
  return showDraft(await draftOf(db, owner, id))
}

/** The draft with this id. @throws Refusal `not_found` */
export async function draftOf(db: Db, { organizationId }: DraftsOwner, id: string): Promise<DraftRow> {
  const row = isId('drf', id) ? await selectDraft(db, { organization_id: organizationId, id }) : undefined
  return row ?? noDraft(id)
}

/** @throws Refusal `not_found` */
function noDraft(id: string): never {
  throw refuse('not_found', { message: `There is no draft ${id.slice(0, 80)}.` })
}

/** Keeps a draft. @throws Refusal `not_found` for `brand_id` and `in_reply_to`, `invalid_request` */
export async function createDraft(
  use: DraftsUse,
  owner: DraftsOwner,
  body: DraftChange,
  reservation?: Reservation,
): Promise<DraftShape> {
  const change = await readChange(use, owner, body, blank)
  const at = use.clock.now()
  const row: DraftRow = {
    ...blank,
    id: newId('drf'),
    organization_id: owner.organizationId,
    created_at: at,
    updated_at: at,
    ...change,
  }
  const shape = showDraft(row)
  await inTransaction(use.db, async tx => {
    await insertDraft(tx, row)
    await storeAnswer(tx, reservation, { status: 201, body: shape, at })
  })
  return shape
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

/** Changes what is given; null empties. @throws Refusal `not_found` (also for `brand_id`, `in_reply_to`), `invalid_request` */
export async function changeDraft(
  use: DraftsUse,
  owner: DraftsOwner,
  id: string,
  body: DraftChange,
  reservation?: Reservation,
): Promise<DraftShape> {
  const found = await draftOf(use.db, owner, id)
  const change = await readChange(use, owner, body, found)
  return inTransaction(use.db, async tx => {
    const row = (await lockDraft(tx, found)) ?? noDraft(id)
    const at = laterThan(row.updated_at, use.clock.now())
    const next = { ...row, ...change, updated_at: at }
    await updateDraft(tx, next)
    const shape = showDraft(next)
    await storeAnswer(tx, reservation, { status: 200, body: shape, at })
    return shape
  })
}

/** Each change has another instant, by which a send knows that the draft is still as it was read. */
function laterThan(last: Instant, now: Instant): Instant {
  return now > last ? now : instantAt(microsecondsOf(last) + 1)
}

/** Deletes a draft. @throws Refusal `not_found` */
export async function removeDraft(
  use: DraftsUse,
  owner: DraftsOwner,
  id: string,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  const found = await draftOf(use.db, owner, id)
  return inTransaction(use.db, async tx => {
    const row = (await lockDraft(tx, found)) ?? noDraft(id)
    await deleteDraft(tx, row)
    const answer = { id: row.id, deleted: true } as const
    await storeAnswer(tx, reservation, { status: 200, body: answer, at: use.clock.now() })
    return answer
  })
}
