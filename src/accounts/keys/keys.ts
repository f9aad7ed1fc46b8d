import { getRandomValues, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../api/caller.ts'
import { managesMembers, type Scope } from '../../api/scope.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { openUseTracker } from '../../base/concurrency/use-tracker.ts'
import type { Db } from '../../base/database/database.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import { type Id, isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { hashToken } from '../../base/secrets/token.ts'
import { updateMembersActive } from '../members/table.ts'
import { resolveKeyAccess } from './access.ts'
import { parseScopes } from './permissions.ts'
import {
  insertKey,
  type KeyAuthRow,
  selectKeys,
  selectKeysForAuth,
  updateKeyDisabled,
  updateKeyRevoked,
  updateKeysUsed,
} from './table.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function toBase62(bytes: Uint8Array, digits: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (let i = 0; i < digits; i++) {
    text = base62.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text
}

function checksum(text: string): string {
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(Bun.hash.crc32(text))
  return toBase62(crc, 6)
}

const keyForm = /^mrk_([0-9a-hjkmnp-tv-z]{26})_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/

/** The id and secret of a presented key; undefined when its form or checksum is wrong. */
function parseKey(key: string): { readonly id: Id<'key'>; readonly secret: string } | undefined {
  const [, token, secret, crc] = keyForm.exec(key) ?? []
  if (token === undefined || secret === undefined || crc !== checksum(key.slice(0, -7))) return undefined
  return { id: `key_${token}`, secret }
}

export interface NewKey {
  readonly organizationId: Id<'org'>
  /** The one brand it is restricted to; null: the whole organization. */
  readonly brandId: Id<'brd'> | null
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: Instant | null
  /** The member who creates it; absent: the operator's command line. */
  readonly makerId?: Id<'mem'>
  /** The member it belongs to, whose permissions bound it; absent: it belongs to the organization. */
  readonly memberId?: Id<'mem'>
}

/** A new key. `key` holds the secret, which is not stored and cannot be shown again. */
export interface CreatedKey {
  readonly id: Id<'key'>
  readonly key: string
}

/**
 * Creates an API key: `mrk_<key id, 26>_<secret, 43 base62>_<crc32, 6 base62>`. Only the secret's SHA-256 is stored.
 * @throws Refusal `invalid_request` for a key that is restricted to a brand and has a scope that manages members
 */
export async function createKey(
  db: Db,
  { organizationId, brandId, name, scopes, expiresAt, makerId, memberId }: NewKey,
  clock: Clock,
): Promise<CreatedKey> {
  if (brandId !== null) requireNoMemberScopes(scopes)
  const id = newId('key')
  const secret = toBase62(getRandomValues(new Uint8Array(32)), 43)
  const key = `mrk_${id.slice(4)}_${secret}`
  await insertKey(db, {
    id,
    organization_id: organizationId,
    brand_id: brandId,
    name,
    secret_hash: hashToken(secret),
    scopes: [...new Set(scopes)].join(' '),
    expires_at: expiresAt,
    revoked_at: null,
    last_used_at: null,
    created_at: clock.now(),
    maker_id: makerId ?? null,
    member_id: memberId ?? null,
    disabled_at: null,
  })
  return { id, key: `${key}_${checksum(key)}` }
}

function requireNoMemberScopes(scopes: readonly Scope[]): void {
  const at = scopes.findIndex(managesMembers)
  if (at !== -1)
    throw refuse('invalid_request', {
      message: `An API key that is restricted to a brand cannot have the scope ${scopes[at]}.`,
      param: `scopes[${at}]`,
    })
}

/** A key's member or maker. `email` null: they were removed. */
export interface KeyMember {
  readonly id: Id<'mem'>
  readonly email: string | null
}

/** An API key without its secret. */
export interface ListedKey {
  readonly id: Id<'key'>
  readonly organizationId: Id<'org'>
  readonly name: string
  readonly brandId: Id<'brd'> | null
  readonly scopes: readonly Scope[]
  readonly expiresAt: Instant | null
  readonly revokedAt: Instant | null
  /** Since when it is disabled; null: it is not. */
  readonly disabledAt: Instant | null
  readonly lastUsedAt: Instant | null
  readonly createdAt: Instant
  /** The member it belongs to; null: it belongs to the organization. */
  readonly member: KeyMember | null
  /** The member who created it; null: the operator's command line. */
  readonly maker: KeyMember | null
}

/** The organization's keys, or with null those of all organizations; oldest first, revoked and expired ones too. */
export async function listKeys(db: Db, organizationId: Id<'org'> | null): Promise<readonly ListedKey[]> {
  const rows = await selectKeys(db, organizationId)
  return rows.map(row => ({
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    brandId: row.brand_id,
    scopes: parseScopes(row.scopes),
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    disabledAt: row.disabled_at,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
    member: row.member_id && { id: row.member_id, email: row.member_email },
    maker: row.maker_id && { id: row.maker_id, email: row.maker_email },
  }))
}

/** Revokes a key: its next request is refused. False when there is no such key. */
export async function revokeKey(db: Db, id: string, clock: Clock): Promise<boolean> {
  return isId('key', id) && (await updateKeyRevoked(db, id, clock.now()))
}

/** Disables a key, from its next request on, until it is enabled again. False when there is no such key. */
export async function disableKey(db: Db, id: string, clock: Clock): Promise<boolean> {
  return isId('key', id) && (await updateKeyDisabled(db, id, clock.now()))
}

/** Enables a disabled key; a revoked or expired one stays so. False when there is no such key. */
export async function enableKey(db: Db, id: string): Promise<boolean> {
  return isId('key', id) && (await updateKeyDisabled(db, id, null))
}

/** Authenticates API requests. */
export interface KeyAuthenticator {
  /**
   * The caller whose key is in the Authorization header, as the database has it at this moment.
   * @throws Refusal `missing_api_key`, `invalid_api_key`, `api_key_revoked`, `api_key_expired`
   */
  authenticate(authorization: string | null): Promise<Caller>
  /** Writes the pending `last_used_at` times. */
  close(): Promise<void>
}

type KeyLookup =
  | { readonly kind: 'done'; readonly row: KeyAuthRow | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }

/** The refusals of {@link KeyAuthenticator.authenticate}. */
export const authenticationRefusals = [
  'missing_api_key',
  'invalid_api_key',
  'api_key_expired',
  'api_key_revoked',
] as const

/** Concurrent requests share one query; nothing is cached beyond it, so a revocation takes effect at once. */
export function openKeyAuthenticator(db: Db, clock: Clock): KeyAuthenticator {
  const find = batched<Id<'key'>, KeyLookup>({ maxItems: 64, maxInFlight: 1 }, async ids => {
    try {
      const rows = new Map((await selectKeysForAuth(db, padToPowerOfTwo([...new Set(ids)]))).map(row => [row.id, row]))
      return ids.map(id => ({ kind: 'done', row: rows.get(id) }))
    } catch (error) {
      // Not thrown: `batched` would then look each id up alone, one after the other, while the database is down.
      return ids.map(() => ({ kind: 'failed', error }))
    }
  })
  const tracker = openUseTracker({
    key: (ids: readonly Id<'key'>[], minute) => updateKeysUsed(db, ids, minute),
    member: (ids: readonly Id<'mem'>[], minute) => updateMembersActive(db, ids, minute),
  })

  return {
    async authenticate(authorization) {
      const presented = bearerToken(authorization)
      const key = parseKey(presented)
      if (!key) throw refuse('invalid_api_key', { message: `The API key "${presented.slice(0, 8)}…" is malformed.` })
      const lookup = await find(key.id)
      if (lookup.kind === 'failed') throw lookup.error
      const { row } = lookup
      if (!row || !timingSafeEqual(row.secret_hash, hashToken(key.secret)))
        throw refuse('invalid_api_key', { message: `There is no API key ${key.id} with this secret.` })
      const now = clock.now()
      requireLive(row, now)
      const access = resolveKeyAccess(row)
      if (!access) throw revokedRefusal(row)
      tracker.record('key', row.id, row.last_used_at, now)
      if (row.member_id !== null) tracker.record('member', row.member_id, row.member_active_at, now)
      return { keyId: row.id, organizationId: row.organization_id, brandId: row.brand_id, ...access }
    },
    close: () => tracker.close(),
  }
}

function bearerToken(authorization: string | null): string {
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (key === undefined)
    throw refuse('missing_api_key', {
      message: 'The request carries no API key; send the header Authorization: Bearer <API key>.',
    })
  return key
}

function revokedRefusal(row: KeyAuthRow) {
  return refuse('api_key_revoked', { message: `The API key ${row.id} was revoked.` })
}

function requireLive(row: KeyAuthRow, now: Instant): void {
  if (row.revoked_at !== null) throw revokedRefusal(row)
  if (row.disabled_at !== null) throw refuse('api_key_revoked', { message: `The API key ${row.id} is disabled.` })
  if (row.expires_at !== null && row.expires_at <= now)
    throw refuse('api_key_expired', { message: `The API key ${row.id} has expired.` })
}
