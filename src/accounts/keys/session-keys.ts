import { cutPage, pageSize, readIdCursor, readInstant } from '../../api/page.ts'
import type { Scope } from '../../api/scope.ts'
import type { SessionMember } from '../../api/session/session.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { loadBrand } from '../brands/brands.ts'
import { selectOwnerEmails } from '../members/table.ts'
import type { CreatedKey } from './keys.ts'
import { createKeyAsMember } from './member-keys.ts'
import { type KeyPageJson, toJsonKey } from './session-schema.ts'
import { selectKeyPage } from './table.ts'

export interface SessionKeysDeps {
  readonly db: Db
  readonly clock: Clock
}

/** The query parameters of a list of keys. */
export interface KeyListQuery {
  readonly limit?: string
  readonly cursor?: string
  readonly member_id?: string
  readonly state?: 'live' | 'all'
}

const maxOwnersToAsk = 5

/** A page of keys, newest first; a `member` sees only their own. @throws Refusal `invalid_cursor` */
export async function listKeyPage(
  { db, clock }: SessionKeysDeps,
  member: SessionMember,
  query: KeyListQuery,
): Promise<KeyPageJson> {
  const limit = pageSize(query.limit)
  const before = readIdCursor('key', query.cursor)
  const now = clock.now()
  const { organizationId } = member
  const memberId = member.role === 'member' ? member.memberId : readMemberId(query.member_id)
  const filter = { organizationId, memberId, liveAt: query.state === 'all' ? undefined : now }
  const rows = await selectKeyPage(db, filter, { before, limit: limit + 1 })
  const { page, next_cursor } = cutPage(rows, limit, ({ id }) => [id])
  return {
    data: page.map(row => toJsonKey(row, now)),
    next_cursor,
    api_access: {
      is_granted: member.hasApiAccess,
      ask: member.hasApiAccess ? [] : [...(await selectOwnerEmails(db, organizationId, maxOwnersToAsk))],
    },
  }
}

function readMemberId(text: string | undefined) {
  if (text === undefined) return undefined
  if (!isId('mem', text)) throw refuse('not_found', { message: `There is no member ${text}.`, param: 'member_id' })
  return text
}

/**
 * Creates a key as this member; see {@link createKeyAsMember}.
 * @throws Refusal `invalid_request` for an end in the past, `not_found`, `insufficient_scope`, `brand_restricted`
 */
export async function createSessionKey(
  { db, clock }: SessionKeysDeps,
  member: SessionMember,
  body: {
    readonly name: string
    readonly scopes: readonly Scope[]
    readonly brand_id?: string | undefined
    readonly expires_at?: string | undefined
  },
): Promise<CreatedKey> {
  const expiresAt = readEnd(body.expires_at, clock.now())
  const anyBrand = { organizationId: member.organizationId, brandId: null }
  const brandId = body.brand_id === undefined ? null : (await loadBrand(db, anyBrand, body.brand_id, 'brand_id')).id
  return createKeyAsMember(db, member, { name: body.name.trim(), scopes: body.scopes, brandId, expiresAt }, clock)
}

function readEnd(text: string | undefined, now: Instant): Instant | null {
  if (text === undefined) return null
  const at = readInstant(text, 'expires_at')
  if (at > now) return at
  throw refuse('invalid_request', { message: `\`expires_at\` is ${text}, which is in the past.`, param: 'expires_at' })
}
