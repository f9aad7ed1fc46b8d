import { t } from 'elysia'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'
import type { Tenant } from '../../api/tenant.ts'
import { toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import { isEventType } from '../event-types.ts'
import { type EventFilter, selectEventsIn, selectLastSequence, selectSequenceAt } from '../table.ts'
import { typesOf } from './schema.ts'
import { selectWebhooks, type WebhookRow } from './table.ts'

/** How far each webhook has come. */
export const webhookProgressSchema = t.Object(
  {
    data: t.Array(
      t.Object({
        id: t.String(),
        waiting: t.Integer({ description: 'Events that wait to be delivered for the first time.' }),
        more: t.Boolean({ description: 'There may be more than `waiting`.' }),
        waiting_since: nullable(dateTimeSchema),
      }),
    ),
  },
  { title: 'WebhookProgress' },
)

type WebhookProgress = (typeof webhookProgressSchema.static)['data'][number]

const maxCounted = 100
/** So many events of the organization are looked through, however many there are. */
const maxLookedAt = 5000

/** What waits for each webhook that the tenant may see: at most twenty, with bounded work for each. */
export async function readWebhookProgress(db: Db, { organizationId, brandId }: Tenant): Promise<WebhookProgress[]> {
  const [webhooks, last] = await Promise.all([selectWebhooks(db, organizationId, brandId), selectLastSequence(db)])
  return await Promise.all(webhooks.map(webhook => progressOf(db, webhook, last)))
}

async function progressOf(db: Db, webhook: WebhookRow, last: number): Promise<WebhookProgress> {
  const after = Number(webhook.read_through)
  if (after >= last) return { id: webhook.id, waiting: 0, more: false, waiting_since: null }
  const stop = await selectSequenceAt(db, webhook.organization_id, { after, through: last }, maxLookedAt - 1)
  const range = { after, through: stop ?? last }
  const found = await selectEventsIn(db, filterOf(webhook), range, maxCounted + 1)
  const [oldest] = found
  return {
    id: webhook.id,
    waiting: Math.min(found.length, maxCounted),
    more: found.length > maxCounted || stop !== undefined,
    waiting_since: oldest ? toIso(oldest.occurred_at) : null,
  }
}

function filterOf(webhook: WebhookRow): EventFilter {
  const mailboxIds = fromJson(webhook.mailbox_ids)
  return {
    organizationId: webhook.organization_id,
    types: typesOf(webhook).filter(isEventType),
    brandId: webhook.brand_id,
    ...(mailboxIds.length > 0 && { mailboxIds, keepsOthers: true }),
  }
}
