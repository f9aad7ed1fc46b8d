import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { type UnrequestedReason, unrequestedReasons } from './disabled-reason.ts'

export type WebhookRow = Selectable<DatabaseSchema['webhooks']>

const webhookColumns = [
  'id',
  'organization_id',
  'url',
  'types',
  'brand_id',
  'mailbox_ids',
  'description',
  'sealed',
  'sealed_by',
  'secret_ends_in',
  'maker_key_id',
  'maker_member_id',
  'read_through',
  'last_success_at',
  'failing_since',
  'disabled_at',
  'disabled_reason',
  'notice_due_at',
  'lease',
  'leased_until',
  'created_at',
  'updated_at',
] as const

export async function insertWebhook(db: Db, row: WebhookRow): Promise<void> {
  await db.insertInto('webhooks').values(row).execute()
}

/** How many webhooks an organization has; run it while the organization is locked. */
export async function countWebhooks(db: Db, organizationId: Id<'org'>): Promise<number> {
  const { count } = await db
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<string | number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The organization's webhooks, or those of one of its brands, the oldest first; with null those of all organizations. */
export function selectWebhooks(
  db: Db,
  organizationId: Id<'org'> | null,
  brandId: Id<'brd'> | null = null,
): Promise<WebhookRow[]> {
  let query = db.selectFrom('webhooks').select(webhookColumns)
  if (organizationId !== null) query = query.where('organization_id', '=', organizationId)
  if (brandId !== null) query = query.where('brand_id', '=', brandId)
  return query.orderBy('id').execute()
}

export function selectWebhook(db: Db, organizationId: Id<'org'>, id: string): Promise<WebhookRow | undefined> {
  return db
    .selectFrom('webhooks')
    .select(webhookColumns)
    .where('id', '=', id as Id<'whk'>)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** A webhook of any organization: for the operator and the dispatcher. */
export function selectAnyWebhook(db: Db, id: Id<'whk'>): Promise<WebhookRow | undefined> {
  return db.selectFrom('webhooks').select(webhookColumns).where('id', '=', id).executeTakeFirst()
}

/** Like {@link selectAnyWebhook}; it stays locked until the transaction ends. */
export function lockWebhook(db: Db, id: Id<'whk'>): Promise<WebhookRow | undefined> {
  return db.selectFrom('webhooks').select(webhookColumns).where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function updateWebhook(
  db: Db,
  id: Id<'whk'>,
  change: Partial<Omit<WebhookRow, 'id' | 'organization_id' | 'created_at'>>,
): Promise<void> {
  await db.updateTable('webhooks').set(change).where('id', '=', id).execute()
}

export async function deleteWebhook(db: Db, id: Id<'whk'>): Promise<void> {
  await db.deleteFrom('webhooks').where('id', '=', id).execute()
}

/** At most `limit` webhooks whose secrets another secret key has sealed; they stay locked. */
export function lockWebhooksNotSealedBy(
  db: Db,
  keyId: string,
  limit: number,
): Promise<Pick<WebhookRow, 'id' | 'sealed' | 'sealed_by'>[]> {
  return db
    .selectFrom('webhooks')
    .select(['id', 'sealed', 'sealed_by'])
    .where('sealed_by', '!=', keyId)
    .limit(sql.lit(limit))
    .forUpdate()
    .execute()
}

/** The webhooks that were disabled since a time without anybody asking for it, the latest first. */
export function selectDisabledSince(
  db: Db,
  since: Instant,
  limit: number,
): Promise<Pick<WebhookRow, 'id' | 'organization_id' | 'disabled_at' | 'disabled_reason'>[]> {
  return db
    .selectFrom('webhooks')
    .select(['id', 'organization_id', 'disabled_at', 'disabled_reason'])
    .where('disabled_at', '>=', since)
    .where('disabled_reason', 'in', unrequestedReasons)
    .orderBy('disabled_at', 'desc')
    .limit(sql.lit(limit))
    .execute()
}

/** A disabled webhook whose owners are owed an email about it. */
export type OwedNotice = WebhookRow & {
  readonly disabled_at: Instant
  readonly disabled_reason: UnrequestedReason
  readonly notice_due_at: Instant
}

/** At most `limit` webhooks whose owners are to get an email now, those that have waited longest first. */
export function selectDueNotices(db: Db, now: Instant, limit: number): Promise<OwedNotice[]> {
  return db
    .selectFrom('webhooks')
    .select(webhookColumns)
    .where('notice_due_at', '<=', now)
    .where('disabled_at', 'is not', null)
    .where('disabled_reason', 'in', unrequestedReasons)
    .$narrowType<Pick<OwedNotice, 'disabled_at' | 'disabled_reason' | 'notice_due_at'>>()
    .orderBy('notice_due_at')
    .limit(sql.lit(limit))
    .execute()
}

/** Sets when the email is due, null: never; unless it was sent, put off or withdrawn since it was read. */
export async function updateNoticeDue(
  db: Db,
  { id, notice_due_at }: Pick<OwedNotice, 'id' | 'notice_due_at'>,
  next: Instant | null,
): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ notice_due_at: next })
    .where('id', '=', id)
    .where('notice_due_at', '=', notice_due_at)
    .execute()
}

/** How many webhooks there are by their state, for metrics. */
export async function countWebhookStates(db: Db): Promise<Readonly<Record<'active' | 'failing' | 'disabled', number>>> {
  const { rows } = await sql<Record<'active' | 'failing' | 'disabled', string | number | null>>`
    SELECT SUM(disabled_at IS NULL AND failing_since IS NULL) AS active,
      SUM(disabled_at IS NULL AND failing_since IS NOT NULL) AS failing, SUM(disabled_at IS NOT NULL) AS disabled
    FROM webhooks`.execute(db)
  const [row] = rows
  return { active: Number(row?.active ?? 0), failing: Number(row?.failing ?? 0), disabled: Number(row?.disabled ?? 0) }
}
