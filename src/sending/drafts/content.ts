import { loadBrand } from '../../accounts/brands/brands.ts'
import type { Db } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { type Id, isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { parseAddress, splitAddress } from '../../mail/address.ts'
import { invalidParameter } from '../accept/invalid-parameter.ts'
import { maxBodyBytes } from '../accept/parse-request.ts'
import { selectDomainsByName } from '../accept/table.ts'
import type { DraftScope, DraftsDeps } from './deps.ts'
import type { DraftChange } from './schema.ts'
import type { DraftRow } from './table.ts'

/** The refusals of {@link readDraftChange} beyond `invalid_request`. */
export const draftContentRefusals = ['not_found'] as const

/**
 * The columns that a request changes, the brand that follows from From included.
 * @throws Refusal `not_found` for `brand_id` and `in_reply_to`, `invalid_request`
 */
export async function readDraftChange(
  deps: DraftsDeps,
  scope: DraftScope,
  body: DraftChange,
  before: Pick<DraftRow, 'from_header' | 'brand_id'>,
): Promise<Partial<DraftRow>> {
  const { from, to, cc, bcc, reply_to, subject, text } = body
  const change: Partial<DraftRow> = {
    ...(from === undefined ? {} : { from_header: emptyAsNull(from) }),
    ...(to === undefined ? {} : { to_addresses: addressList(to) }),
    ...(cc === undefined ? {} : { cc_addresses: addressList(cc) }),
    ...(bcc === undefined ? {} : { bcc_addresses: addressList(bcc) }),
    ...(reply_to === undefined ? {} : { reply_to: addressList(reply_to) }),
    ...(subject === undefined ? {} : { subject: emptyAsNull(subject) }),
    ...(text === undefined ? {} : { text: readText(text) }),
  }
  const sender = { ...before, ...change }
  return { ...change, ...(await readBrand(deps.db, scope, body, sender)), ...(await readInReplyTo(deps, scope, body)) }
}

function emptyAsNull(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text.toWellFormed()
}

function addressList(given: string | readonly string[] | null) {
  return toJson([given ?? []].flat().flatMap(value => emptyAsNull(value) ?? []))
}

function readText(text: string | null): string | null {
  if (text === null || text === '') return null
  if (text.includes('\u0000')) throw invalidParameter('text', 'it contains NUL')
  if (Buffer.byteLength(text) > maxBodyBytes) throw invalidParameter('text', `it has more than ${maxBodyBytes} bytes`)
  return text.toWellFormed()
}

/** The brand of From's domain when that is registered, otherwise the one that the request names. */
async function readBrand(
  db: Db,
  scope: DraftScope,
  { brand_id: given, from }: DraftChange,
  sender: Pick<DraftRow, 'from_header' | 'brand_id'>,
): Promise<Pick<DraftRow, 'brand_id'> | undefined> {
  if (given === undefined && from === undefined) return undefined
  const requested =
    typeof given === 'string' ? (await loadBrand(db, { ...scope, brandId: null }, given, 'brand_id')).id : given
  return { brand_id: (await brandOfFrom(db, scope, sender)) ?? (requested === undefined ? sender.brand_id : requested) }
}

async function brandOfFrom(
  db: Db,
  { organizationId }: DraftScope,
  { from_header: from }: Pick<DraftRow, 'from_header'>,
): Promise<Id<'brd'> | undefined> {
  const address = from === null ? undefined : parseAddress(from)
  if (!address) return undefined
  const [found] = await selectDomainsByName(db, [{ organizationId, domain: splitAddress(address.address).domain }])
  return found?.brandId
}

async function readInReplyTo(
  deps: DraftsDeps,
  { organizationId }: DraftScope,
  { in_reply_to: id }: DraftChange,
): Promise<Pick<DraftRow, 'in_reply_to'> | undefined> {
  if (id === undefined || id === null) return id === null ? { in_reply_to: null } : undefined
  if (isId('msg', id) && (await deps.received.has(organizationId, id))) return { in_reply_to: id }
  throw refuse('not_found', { message: `in_reply_to: there is no message ${id.slice(0, 80)}.`, param: 'in_reply_to' })
}
