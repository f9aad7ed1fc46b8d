import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { requireBrand, requireBrandRefusals, type Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import { type Db, inTransaction, isDuplicate } from '../../base/database/database.ts'
import { isId, newId } from '../../base/ids.ts'
import { type Refusal, refuse } from '../../base/refusal.ts'
import type { DomainDeps } from '../deps.ts'
import { domainRefusals, loadDomain } from '../load-domain.ts'
import { claimUnlessLive, receivingAfterAttempt } from '../receiving-claim.ts'
import { receivingNextStep } from '../schema.ts'
import { type DomainRow, lockDomain } from '../table.ts'
import { type CreatedMailboxJson, type MailboxJson, toJsonMailbox } from './schema.ts'
import {
  deleteMailbox,
  hasMailbox,
  insertMailbox,
  type MailboxRow,
  selectMailbox,
  selectMailboxes,
  selectUnreadCounts,
} from './table.ts'

export interface NewMailbox {
  readonly domainId: string
  /** null: the catch-all. */
  readonly localPart: string | null
}

/** The refusals of {@link createMailbox}. */
export const createMailboxRefusals = [...domainRefusals, 'mailbox_exists', 'receiving_claimed'] as const

/**
 * Creates a mailbox and tries to claim the receiving of the domain's mail; while that is incomplete, `receiving` has the next
 * step.
 * @throws Refusal `not_found`, `brand_restricted`, `invalid_request`, `mailbox_exists`, `receiving_claimed`.
 */
export async function createMailbox(
  deps: DomainDeps,
  tenant: Tenant,
  request: NewMailbox,
  reservation?: Reservation,
): Promise<CreatedMailboxJson> {
  const localPart = request.localPart === null ? '' : parseLocalPart(request.localPart)
  const domain = await loadDomain(deps.db, tenant, request.domainId, 'domain_id')
  if (await hasMailbox(deps.db, domain.id, localPart)) throw mailboxExists(domain.domain, localPart)
  const receiving = await receivingAfterAttempt(deps, domain, await claimUnlessLive(deps, domain))
  const mailbox = newMailbox(domain, localPart, deps.clock.now())
  const created: CreatedMailboxJson = {
    ...toJsonMailbox({ ...mailbox, domain: domain.domain, isLive: receiving.live }, 0),
    receiving,
    receiving_mx: receiving.mx.record,
  }
  await storeMailbox(deps.db, mailbox, domain, db => storeResponse(db, reservation, { status: 201, body: created }))
  return created
}

function newMailbox(domain: DomainRow, localPart: string, at: Instant): MailboxRow {
  return {
    id: newId('mbx'),
    organization_id: domain.organization_id,
    brand_id: domain.brand_id,
    domain_id: domain.id,
    local_part: localPart,
    created_at: at,
  }
}

async function storeMailbox(
  db: Db,
  mailbox: MailboxRow,
  domain: DomainRow,
  answer: (db: Db) => Promise<void>,
): Promise<void> {
  try {
    await inTransaction(db, async db => {
      if (!(await lockDomain(db, domain.organization_id, domain.id)))
        throw refuse('not_found', { message: `There is no domain ${domain.id}.`, param: 'domain_id' })
      await insertMailbox(db, mailbox)
      await answer(db)
    })
  } catch (error) {
    throw isDuplicate(error, 'mailboxes_address') ? mailboxExists(domain.domain, mailbox.local_part) : error
  }
}

function mailboxExists(domain: string, localPart: string): Refusal {
  return refuse('mailbox_exists', {
    message:
      localPart === '' ? `${domain} already has a catch-all.` : `The mailbox ${localPart}@${domain} already exists.`,
    param: 'local_part',
  })
}

const maxLocalPart = 64
// A dot-atom (RFC 5322 §3.2.3) without characters that have a special meaning: `+` (tags), `*` (the catch-all), `%` and
// `!` (source routes).
const atom = "[A-Za-z0-9#$&'/=?^_`{|}~-]+"
const localPartForm = new RegExp(`^${atom}(?:\\.${atom})*$`)

/**
 * The local part in lower case.
 * @throws Refusal `invalid_request` when it is empty, longer than 64 characters, or has characters that are not allowed
 */
export function parseLocalPart(text: string): string {
  if (text === '') throw invalidLocalPart('The local part is empty; omit it for a catch-all.')
  if (text.length > maxLocalPart)
    throw invalidLocalPart(`The local part has ${text.length} characters; at most ${maxLocalPart} are allowed.`)
  if (text.includes('+'))
    throw invalidLocalPart(`"${text}" contains "+": mail to name+tag is delivered to the mailbox "name".`)
  if (!localPartForm.test(text)) throw invalidLocalPart(`"${text}" is not a valid local part for a mailbox.`)
  return text.toLowerCase()
}

function invalidLocalPart(message: string): Refusal {
  return refuse('invalid_request', { message, param: 'local_part' })
}

/** The tenant's mailboxes, by address. */
export async function listMailboxes(deps: DomainDeps, tenant: Tenant): Promise<{ data: MailboxJson[] }> {
  const rows = await selectMailboxes(deps.db, tenant.organizationId, tenant.brandId)
  const unread = await selectUnreadCounts(
    deps.db,
    rows.map(row => row.id),
  )
  return {
    data: rows.map(row =>
      toJsonMailbox({ ...row, isLive: receivingNextStep(row) === undefined }, unread.get(row.id) ?? 0),
    ),
  }
}

/** The refusals of {@link removeMailbox}. */
export const removeMailboxRefusals = ['not_found', ...requireBrandRefusals] as const

/**
 * Deletes a mailbox; the messages that it received stay, without a mailbox.
 * @throws Refusal `not_found`, `brand_restricted`.
 */
export async function removeMailbox(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  reservation?: Reservation,
): Promise<{ deleted: string }> {
  const mailbox = isId('mbx', id) ? await selectMailbox(deps.db, tenant.organizationId, id) : undefined
  if (!mailbox) throw refuse('not_found', { message: `There is no mailbox ${id}.` })
  requireBrand(tenant, mailbox.brand_id, { of: `the mailbox ${id}` })
  const removed = { deleted: mailbox.id }
  await inTransaction(deps.db, async db => {
    await deleteMailbox(db, tenant.organizationId, mailbox.id)
    await storeResponse(db, reservation, { status: 200, body: removed })
  })
  return removed
}
