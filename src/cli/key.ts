import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { loadBrand } from '../accounts/brands/brands.ts'
import {
  type CreatedKey,
  createKey,
  disableKey,
  enableKey,
  type KeyMember,
  type ListedKey,
  listKeys,
  revokeKey,
} from '../accounts/keys/keys.ts'
import { createKeyAsMember, type MemberKeyRequest } from '../accounts/keys/member-keys.ts'
import { findMember } from '../accounts/members/members.ts'
import { isScope, managesMembers, type Scope, scopes } from '../api/scope.ts'
import { type Instant, systemClock, toIso } from '../base/clock.ts'
import { type Db, inTransaction } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { defineCommand, defineGroup, type Environment } from './command.ts'
import { currentOperator } from './current-operator.ts'
import { databaseNote, withDatabase } from './database.ts'
import { requireOrganization } from './require-organization.ts'
import { brandId, memberId, organizationId, time } from './values.ts'

/** The scopes of a key that is created without --scopes: all but those that manage members. */
export const defaultScopes: readonly Scope[] = scopes.filter(scope => !managesMembers(scope))

export const defaultKeyName = 'Made on the command line'

const keyId = { placeholder: 'ID' }

const create = defineCommand({
  name: 'key create',
  summary: 'Create an API key; it is shown only once',
  details: `Give --org for a key of the organization, or --member for one with the rights of that member: a key created as
an owner or admin belongs to the organization; one created as another member needs --brand, belongs to that member and is
never allowed more than they are. The scopes are:

${scopes.join(' ')}`,
  options: {
    org: { ...organizationId, description: 'create a key of this organization' },
    member: { ...memberId, description: 'create a key as this member' },
    brand: { ...brandId, description: 'restrict the key to one brand of the organization' },
    name: { placeholder: 'NAME', description: 'the name of the key', default: defaultKeyName },
    scopes: {
      placeholder: 'A,B',
      description: 'what the key may do; without it everything but managing members, as far as its member may',
      read: readScopes,
    },
    expires: {
      placeholder: 'TIME',
      description: 'when the key expires, such as 2027-01-31T00:00:00Z; without it never',
      read: readExpiry,
    },
  },
  async run({ org, member, brand, name, scopes, expires }, { env }) {
    const owner = readOwner(org, member)
    const request = { brandId: brand ?? null, name, scopes, expiresAt: expires ?? null }
    const created = await withDatabase(env, async db => {
      const created =
        'memberId' in owner
          ? await createAsMember(db, owner.memberId, request)
          : await createAsOperator(db, owner.organizationId, request)
      const detail = { ...owner, brand_id: request.brandId, name }
      await recordAuditEntry(db, currentOperator(env), { action: 'key.create', subject: created.id, detail })
      return created
    })
    return { json: created, text: `Created the key ${created.id}. It is shown only once:\n${created.key}` }
  },
})

const list = defineCommand({
  name: 'key list',
  summary: 'List the keys of an organization, or all keys',
  details: 'Shows whose each key is, who created it and when it was last used, but not the keys themselves.',
  options: { org: { ...organizationId, description: 'only keys of this organization' } },
  async run({ org }, { env }) {
    const keys = await withDatabase(env, async db => {
      if (org !== undefined) await requireOrganization(db, org)
      return listKeys(db, org ?? null)
    })
    const describe = (key: ListedKey) => (org === undefined ? `${key.organizationId}  ${line(key)}` : line(key))
    return { json: keys.map(toJsonKey), text: keys.map(describe).join('\n') }
  },
})

const disable = defineCommand({
  name: 'key disable',
  summary: 'Refuse requests with a key until it is enabled again',
  arguments: { id: keyId },
  run: async ({ id }, { env }) => {
    await change('key.disable', id, disableKey, env)
    return { json: { id, disabled: true }, text: `Disabled ${id}.` }
  },
})

const enable = defineCommand({
  name: 'key enable',
  summary: 'Accept requests with a disabled key again',
  arguments: { id: keyId },
  run: async ({ id }, { env }) => {
    await change('key.enable', id, enableKey, env)
    return { json: { id, disabled: false }, text: `Enabled ${id}.` }
  },
})

const revoke = defineCommand({
  name: 'key revoke',
  summary: 'Revoke a key for good, from its next request on',
  arguments: { id: keyId },
  run: async ({ id }, { env }) => {
    await change('key.revoke', id, revokeKey, env)
    return { json: { id, revoked: true }, text: `Revoked ${id}.` }
  },
})

export const keyCommand = defineGroup('key', databaseNote, [create, list, disable, enable, revoke])

type KeyRequest = Omit<MemberKeyRequest, 'scopes'> & { readonly scopes: readonly Scope[] | undefined }

/** @throws UsageError unless exactly one of them is given */
function readOwner(organizationId: Id<'org'> | undefined, memberId: Id<'mem'> | undefined) {
  if (organizationId !== undefined && memberId !== undefined)
    throw new UsageError('--org and --member exclude each other: a member belongs to one organization')
  if (memberId !== undefined) return { memberId }
  if (organizationId !== undefined) return { organizationId }
  throw new UsageError('--org is missing')
}

async function createAsOperator(db: Db, organizationId: Id<'org'>, request: KeyRequest): Promise<CreatedKey> {
  await requireOrganization(db, organizationId)
  if (request.brandId) await loadBrand(db, { organizationId, brandId: null }, request.brandId)
  return createKey(db, { ...request, organizationId, scopes: request.scopes ?? defaultScopes }, systemClock)
}

async function createAsMember(db: Db, memberId: Id<'mem'>, request: KeyRequest): Promise<CreatedKey> {
  const member = await findMember(db, memberId)
  if (!member) throw new CommandError(`There is no member ${memberId}.`)
  const { organizationId, permissions } = member
  const allowed = defaultScopes.filter(scope => permissions.has(scope))
  const key = { ...request, scopes: request.scopes ?? allowed }
  return createKeyAsMember(db, { organizationId, memberId }, key, systemClock)
}

/** @throws CommandError when there is no such key */
async function change(action: string, id: string, changeKey: typeof disableKey, env: Environment): Promise<void> {
  const isFound = await withDatabase(env, db =>
    inTransaction(db, async tx => {
      if (!(await changeKey(tx, id, systemClock))) return false
      await recordAuditEntry(tx, currentOperator(env), { action, subject: id })
      return true
    }),
  )
  if (!isFound) throw new CommandError(`There is no key ${id}.`)
}

function toJsonKey(key: ListedKey) {
  const time = (at: Instant | null) => at && toIso(at)
  return {
    id: key.id,
    organization_id: key.organizationId,
    name: key.name,
    brand_id: key.brandId,
    scopes: key.scopes,
    created_at: toIso(key.createdAt),
    expires_at: time(key.expiresAt),
    revoked_at: time(key.revokedAt),
    disabled_at: time(key.disabledAt),
    last_used_at: time(key.lastUsedAt),
    member: key.member,
    made_by: key.maker,
  }
}

function line(key: ListedKey): string {
  const { last_used_at } = toJsonKey(key)
  const access = key.brandId ?? 'the whole organization'
  return [
    `${key.id}  ${key.name}  (${access}; ${stateOf(key)}; last used ${last_used_at ?? 'never'})`,
    `  ${describeOwner(key)}`,
    `  ${key.scopes.join(' ')}`,
  ].join('\n')
}

function stateOf(key: ListedKey): string {
  const { revoked_at, disabled_at, expires_at } = toJsonKey(key)
  if (revoked_at) return `revoked ${revoked_at}`
  if (disabled_at) return `disabled ${disabled_at}`
  return expires_at ? `expires ${expires_at}` : 'does not expire'
}

/** Whose key it is and, for a key of the organization, who created it. */
function describeOwner({ member, maker }: ListedKey): string {
  const name = ({ id, email }: KeyMember) => (email === null ? `${id}, no longer a member` : `${email}, ${id}`)
  if (member) return `belongs to ${name(member)}`
  return `belongs to the organization, created ${maker ? `by ${name(maker)}` : 'on the command line'}`
}

function readScopes(text: string): readonly Scope[] {
  return text.split(',').map(part => {
    const scope = part.trim()
    if (!isScope(scope)) throw new UsageError(`"${scope}" is not a scope; there are ${scopes.join(', ')}`)
    return scope
  })
}

function readExpiry(text: string): Instant {
  const at = time.read(text)
  if (at <= systemClock.now()) throw new UsageError(`${text} is in the past`)
  return at
}
