import { createHash, getRandomValues, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../api/caller.ts'
import { managesMembers, type Scope } from '../../api/scope.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import type { Db } from '../../base/database/database.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import { type Id, isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { resolveKeyAccess } from './access.ts'
import { startKeyUseTracker } from './last-used.ts'
import { parseScopes } from './permissions.ts'
import {
  insertKey,
  type KeyAuthRow,
  selectKeys,
  selectKeysForAuth,
  updateKeyDisabled,
  updateKeyRevoked,
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

function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

const form = /^mrk_([0-9a-hjkmnp-tv-z]{26})_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/

/** A key as the client shows it; undefined when it cannot be one (form, checksum). */
function readKey(key: string): { readonly id: Id<'key'>; readonly secret: string } | undefined {
  const [, token, secret, crc] = form.exec(key) ?? []
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
  /** The member who makes it; absent: the operator's command line. */
  readonly makerId?: Id<'mem'>
  /** The member whose key it is, never able to do more than they; absent: the organization's own. */
  readonly memberId?: Id<'mem'>
}

/** A key that was made, shown this once. */
export interface CreatedKey {
  readonly id: Id<'key'>
  readonly key: string
}

/**
 * Makes an API key: `mrk_<key id, 26>_<secret, 43 base62>_<crc32, 6 base62>`. `key` is shown this once; only the secret's
 * SHA-256 is kept.
 * @throws Refusal `invalid_request` for a key that is restricted to a brand and would manage members
 */
export async function createKey(
  db: Db,
  { organizationId, brandId, name, scopes, expiresAt, makerId, memberId }: NewKey,
  clock: Clock,
): Promise<CreatedKey> {
  if (brandId !== null) requireNoManaging(scopes)
  const id = newId('key')
  const secret = toBase62(getRandomValues(new Uint8Array(32)), 43)
  const key = `mrk_${id.slice(4)}_${secret}`
  await insertKey(db, {
    id,
    organization_id: organizationId,
    brand_id: brandId,
    name,
    secret_hash: hashSecret(secret),
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

function requireNoManaging(scopes: readonly Scope[]): void {
  const at = scopes.findIndex(managesMembers)
  if (at !== -1)
    throw refuse('invalid_request', {
      message: `An API key that is restricted to a brand cannot have the scope ${scopes[at]}.`,
      param: `scopes[${at}]`,
    })
}

/** A member as far as a key shows them. `email` null: they are one no more. */
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
  /** Since when it is not taken; null: it is, as far as this goes. */
  readonly disabledAt: Instant | null
  readonly lastUsedAt: Instant | null
  readonly createdAt: Instant
  /** The member whose key it is; null: the organization's own. */
  readonly member: KeyMember | null
  /** The member who made it; null: the operator's command line. */
  readonly maker: KeyMember | null
}

/** The organization's keys, or those of all where it is null; oldest first, also those that no longer work. */
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

/** Ends a key: its very next request is refused. False when there is no such key. */
export async function revokeKey(db: Db, id: string, clock: Clock): Promise<boolean> {
  return isId('key', id) && (await updateKeyRevoked(db, id, clock.now()))
}

/** Keeps a key from being taken, from its very next request on, until it is enabled. False when there is no such key. */
export async function disableKey(db: Db, id: string, clock: Clock): Promise<boolean> {
  return isId('key', id) && (await updateKeyDisabled(db, id, clock.now()))
}

/** Lets a disabled key be taken again; a revoked or expired one stays so. False when there is no such key. */
export async function enableKey(db: Db, id: string): Promise<boolean> {
  return isId('key', id) && (await updateKeyDisabled(db, id, null))
}

/** Tells who asks. */
export interface KeyAuthenticator {
  /**
   * Who shows the key in an Authorization header, by what the database holds at this moment.
   * @throws Refusal `missing_api_key`, `invalid_api_key`, `api_key_revoked`, `api_key_expired`
   */
  authenticate(authorization: string | null): Promise<Caller>
  /** Writes down the uses that are not yet written. */
  close(): Promise<void>
}

type KeyLookup =
  | { readonly kind: 'known'; readonly row: KeyAuthRow | undefined }
  | { readonly kind: 'trouble'; readonly error: unknown }

/** Requests at the same time share one look-up; nothing outlives it, so that a revocation acts at once. */
export function openKeyAuthenticator(db: Db, clock: Clock): KeyAuthenticator {
  const find = batched<Id<'key'>, KeyLookup>({ maxItems: 64, maxInFlight: 1 }, async ids => {
    try {
      const rows = new Map((await selectKeysForAuth(db, padToPowerOfTwo([...new Set(ids)]))).map(row => [row.id, row]))
      return ids.map(id => ({ kind: 'known', row: rows.get(id) }))
    } catch (error) {
      // Not thrown: each of them would then be looked up alone, one after the other, while the database is away.
      return ids.map(() => ({ kind: 'trouble', error }))
    }
  })
  const uses = startKeyUseTracker(db)

  return {
    async authenticate(authorization) {
      const shown = bearer(authorization)
      const key = readKey(shown)
      if (!key) throw refuse('invalid_api_key', { message: `The API key "${shown.slice(0, 8)}…" is not one of ours.` })
      const found = await find(key.id)
      if (found.kind === 'trouble') throw found.error
      const { row } = found
      if (!row || !timingSafeEqual(row.secret_hash, hashSecret(key.secret)))
        throw refuse('invalid_api_key', { message: `There is no API key ${key.id} with this secret.` })
      const now = clock.now()
      requireLive(row, now)
      const access = resolveKeyAccess(row)
      if (!access) throw revoked(row)
      uses.record(row, now)
      return { keyId: row.id, organizationId: row.organization_id, brandId: row.brand_id, ...access }
    },
    close: () => uses.close(),
  }
}

function bearer(authorization: string | null): string {
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (key === undefined)
    throw refuse('missing_api_key', {
      message: 'The request carries no API key; send the header Authorization: Bearer <API key>.',
    })
  return key
}

function revoked(row: KeyAuthRow) {
  return refuse('api_key_revoked', { message: `The API key ${row.id} was revoked.` })
}

function requireLive(row: KeyAuthRow, now: Instant): void {
  if (row.revoked_at !== null) throw revoked(row)
  if (row.disabled_at !== null) throw refuse('api_key_revoked', { message: `The API key ${row.id} is disabled.` })
  if (row.expires_at !== null && row.expires_at <= now)
    throw refuse('api_key_expired', { message: `The API key ${row.id} has expired.` })
}
