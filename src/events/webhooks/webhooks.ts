import { isDeepStrictEqual } from 'node:util'
import { recordCallerEntry } from '../../accounts/audit/audit.ts'
import { brandRefusals, loadBrand } from '../../accounts/brands/brands.ts'
import { lockOrganization } from '../../accounts/organizations/table.ts'
import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { applyChange, requireUnchanged } from '../../api/if-updated-at.ts'
import { requireBrand, type Tenant } from '../../api/tenant.ts'
import { type Clock, plusMs, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { type Id, isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import { type EventType, requireEventType } from '../event-types.ts'
import { selectLastSequence } from '../table.ts'
import type { DestinationPolicy } from './destination/destination.ts'
import { disableWebhook, enabledState } from './disable.ts'
import { newSigningSecret } from './dispatch/signature.ts'
import { requireDestination, requireHeaders } from './requested-destination.ts'
import { findMissingScope } from './rights.ts'
import { maxWebhooks, type NewWebhook, toJsonWebhook, typesOf, type WebhookChange, type WebhookJson } from './schema.ts'
import { openWebhook, sealWebhook } from './secrets.ts'
import {
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  lockWebhook,
  selectWebhook,
  selectWebhooks,
  updateWebhook,
  type WebhookRow,
} from './table.ts'

/** The brand of each of these mailboxes of the organization; others are absent. */
export type FindMailboxBrands = (
  db: Db,
  organizationId: Id<'org'>,
  ids: readonly Id<'mbx'>[],
) => Promise<ReadonlyMap<Id<'mbx'>, Id<'brd'>>>

/** What the operations on webhooks depend on. */
export interface WebhookDeps {
  readonly db: Db
  readonly clock: Clock
  readonly secrets: Secrets
  readonly resolver: Resolver
  readonly policy: DestinationPolicy
  readonly findMailboxBrands: FindMailboxBrands
}

/** The refusals of {@link loadWebhook}. */
export const webhookRefusals = ['not_found', 'brand_restricted'] as const

/** The refusals of what a webhook is to be. */
export const webhookWriteRefusals = ['insufficient_scope', 'not_found', ...brandRefusals] as const

/** The refusals of {@link createWebhook}. */
export const createWebhookRefusals = [...webhookWriteRefusals, 'too_many_webhooks'] as const

/** @throws Refusal `not_found`, `brand_restricted` */
export async function loadWebhook(db: Db, tenant: Tenant, id: string): Promise<WebhookRow> {
  const row = isId('whk', id) ? await selectWebhook(db, tenant.organizationId, id) : undefined
  if (!row) throw refuse('not_found', { message: `There is no webhook ${id}.` })
  requireBrand(tenant, row.brand_id ?? '', { of: `the webhook ${id}` })
  return row
}

/** The webhooks that the tenant may see, the oldest first. */
export async function listWebhooks({ db }: WebhookDeps, tenant: Tenant): Promise<WebhookJson[]> {
  return (await selectWebhooks(db, tenant.organizationId, tenant.brandId)).map(toJsonWebhook)
}

/** @throws Refusal {@link webhookRefusals} */
export async function getWebhook({ db }: WebhookDeps, tenant: Tenant, id: string): Promise<WebhookJson> {
  return toJsonWebhook(await loadWebhook(db, tenant, id))
}

/**
 * Creates a webhook, which gets the events from now on.
 * @throws Refusal `invalid_request` that names the rule which refuses the URL, `insufficient_scope` for a type that the
 * caller may not see, `too_many_webhooks`, and for `brand_id` and `mailbox_ids` `not_found`, `brand_restricted`
 */
export async function createWebhook(
  deps: WebhookDeps,
  caller: Caller,
  body: NewWebhook,
): Promise<WebhookJson & { readonly secret: string }> {
  const { db, clock, secrets } = deps
  const { organizationId } = caller
  const types = requireTypes(caller, body.types)
  const url = await requireDestination(deps, body.url)
  const headers = requireHeaders(body.headers ?? {})
  const brandId = await resolveWebhookBrand(db, caller, body.brand_id ?? null)
  const mailboxIds = await resolveMailboxes(deps, organizationId, brandId, body.mailbox_ids ?? [])
  const id = newId('whk')
  const secret = newSigningSecret()
  const now = clock.now()
  const isEnabled = body.enabled ?? true
  const row = await inTransaction(db, async tx => {
    await lockOrganization(tx, organizationId)
    if ((await countWebhooks(tx, organizationId)) >= maxWebhooks)
      throw refuse('too_many_webhooks', { message: `The organization has ${maxWebhooks} webhooks, which is the most.` })
    const row: WebhookRow = {
      id,
      organization_id: organizationId,
      url,
      types: types.join(' '),
      brand_id: brandId,
      mailbox_ids: toJson(mailboxIds),
      description: body.description ?? null,
      ...sealWebhook(id, secrets, { secret, previous: null, headers }),
      ...makerOf(caller),
      read_through: await selectLastSequence(tx),
      last_success_at: null,
      failing_since: null,
      disabled_at: isEnabled ? null : now,
      disabled_reason: isEnabled ? null : 'requested',
      notice_due_at: null,
      lease: null,
      leased_until: null,
      created_at: now,
      updated_at: now,
    }
    await insertWebhook(tx, row)
    await recordCallerEntry(tx, caller, clock, { action: 'webhook.create', subject: id, detail: { url, types } })
    return row
  })
  return { ...toJsonWebhook(row), secret }
}

/**
 * Changes what is given. Enabling goes on with the first event that was not delivered, as far as events are kept; whoever
 * enables it, or changes its types, answers for what it may see from then on.
 * @throws Refusal as {@link createWebhook}, `not_found`, `changed_since_read`
 */
export async function changeWebhook(
  deps: WebhookDeps,
  caller: Caller,
  id: string,
  change: WebhookChange,
  reservation?: Reservation,
): Promise<WebhookJson> {
  const { db, clock, secrets } = deps
  const found = await loadWebhook(db, caller, id)
  const types =
    change.types === undefined && change.enabled !== true ? null : requireTypes(caller, change.types ?? typesOf(found))
  const url = change.url === undefined ? undefined : await requireDestination(deps, change.url)
  const headers = change.headers === undefined ? undefined : requireHeaders(change.headers)
  const brandId =
    change.brand_id === undefined ? found.brand_id : await resolveWebhookBrand(db, caller, change.brand_id)
  const isMoved = change.mailbox_ids !== undefined || change.brand_id !== undefined
  const mailboxIds = change.mailbox_ids ?? (JSON.parse(found.mailbox_ids) as readonly string[])
  const mailboxes = isMoved ? await resolveMailboxes(deps, caller.organizationId, brandId, mailboxIds) : undefined
  return inTransaction(db, async tx => {
    const row = await lockWebhook(tx, found.id)
    if (!row) throw refuse('not_found', { message: `There is no webhook ${id}.` })
    requireUnchanged(`The webhook ${id}`, row, change)
    const isDisabling = change.enabled === false && row.disabled_at === null
    const opened = openWebhook(row, secrets)
    const changes = {
      ...(url !== undefined && { url }),
      ...(types !== null && { types: types.join(' '), ...makerOf(caller) }),
      brand_id: brandId,
      ...(mailboxes !== undefined && { mailbox_ids: toJson(mailboxes) }),
      ...(change.description !== undefined && { description: change.description }),
      // Sealing the same again gives other bytes.
      ...(headers !== undefined &&
        !isDeepStrictEqual(headers, opened.headers) &&
        sealWebhook(row.id, secrets, { ...opened, headers })),
      ...(change.enabled === true && row.disabled_at !== null && enabledState),
      ...(isDisabling && { disabled_at: clock.now() }),
    }
    const { updated_at: now } = applyChange(row, changes, clock.now(), everythingOf)
    if (now !== row.updated_at) {
      await updateWebhook(tx, row.id, { ...changes, updated_at: now })
      if (isDisabling) await disableWebhook(tx, row, { reason: 'requested', now, operator: null })
      await recordCallerEntry(tx, caller, clock, {
        action: 'webhook.change',
        subject: row.id,
        // Not the values: headers are secret.
        detail: {
          changed: Object.keys(change).filter(name => name !== 'if_updated_at'),
          ...(change.enabled !== undefined && { enabled: change.enabled }),
        },
      })
    }
    const json = toJsonWebhook((await lockWebhook(tx, row.id)) ?? row)
    await storeResponse(tx, reservation, { status: 200, body: json })
    return json
  })
}

/** What a change may change of a webhook. */
function everythingOf(row: WebhookRow) {
  return [toJsonWebhook(row), row.maker_key_id, row.maker_member_id, row.sealed]
}

/** Deletes a webhook with its secrets. @throws Refusal {@link webhookRefusals} */
export async function removeWebhook(
  { db, clock }: WebhookDeps,
  caller: Caller,
  id: string,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  const row = await loadWebhook(db, caller, id)
  return inTransaction(db, async tx => {
    await deleteWebhook(tx, row.id)
    const entry = { action: 'webhook.delete', subject: row.id, detail: { url: row.url } }
    await recordCallerEntry(tx, caller, clock, entry)
    const body = { id: row.id, deleted: true } as const
    await storeResponse(tx, reservation, { status: 200, body })
    return body
  })
}

/** Gives a webhook a new secret; the present one signs as well for `graceSeconds`. @throws Refusal {@link webhookRefusals} */
export async function rotateSecret(
  { db, clock, secrets }: WebhookDeps,
  caller: Caller,
  id: string,
  graceSeconds: number,
): Promise<{ id: string; secret: string; previous_until: string }> {
  const found = await loadWebhook(db, caller, id)
  const secret = newSigningSecret()
  return inTransaction(db, async tx => {
    const row = await lockWebhook(tx, found.id)
    if (!row) throw refuse('not_found', { message: `There is no webhook ${id}.` })
    const now = clock.now()
    const until = plusMs(now, graceSeconds * 1000)
    const { secret: previous, headers } = openWebhook(row, secrets)
    const sealed = sealWebhook(row.id, secrets, { secret, previous: { secret: previous, until }, headers })
    await updateWebhook(tx, row.id, { ...sealed, updated_at: now })
    const detail = { grace_seconds: graceSeconds }
    await recordCallerEntry(tx, caller, clock, { action: 'webhook.rotate_secret', subject: row.id, detail })
    return { id: row.id, secret, previous_until: toIso(until) }
  })
}

/** @throws Refusal `invalid_request` that names an unknown type, `insufficient_scope` */
function requireTypes({ scopes }: Caller, types: readonly string[]): readonly EventType[] {
  const known = [...new Set(types.map((type, i) => requireEventType(type, `types[${i}]`)))]
  const missing = findMissingScope(scopes, known)
  if (missing === undefined) return known
  throw refuse('insufficient_scope', {
    message: `Without the scope ${missing} these types of events cannot be delivered.`,
    reason: missing,
    param: 'types',
  })
}

/** A caller that is restricted to a brand gets webhooks of that brand only. */
async function resolveWebhookBrand(db: Db, caller: Caller, brandId: string | null): Promise<Id<'brd'> | null> {
  return brandId === null ? caller.brandId : (await loadBrand(db, caller, brandId, 'brand_id')).id
}

async function resolveMailboxes(
  { db, findMailboxBrands }: WebhookDeps,
  organizationId: Id<'org'>,
  brandId: Id<'brd'> | null,
  ids: readonly string[],
): Promise<readonly Id<'mbx'>[]> {
  const mailboxIds = [...new Set(ids)].filter(isMailboxId)
  const brands: ReadonlyMap<string, Id<'brd'>> = mailboxIds.length === 0
    ? new Map()
    : await findMailboxBrands(db, organizationId, mailboxIds)
  const unknown = ids.findIndex(id => !brands.has(id) || (brandId !== null && brands.get(id) !== brandId))
  if (unknown === -1) return mailboxIds
  throw refuse('not_found', {
    message: `There is no mailbox ${ids[unknown]}${brandId === null ? '' : ` of the brand ${brandId}`}.`,
    param: `mailbox_ids[${unknown}]`,
  })
}

function isMailboxId(text: string): text is Id<'mbx'> {
  return isId('mbx', text)
}

function makerOf({ keyId, memberId }: Caller): Pick<WebhookRow, 'maker_key_id' | 'maker_member_id'> {
  return { maker_key_id: keyId, maker_member_id: keyId === null ? memberId : null }
}
