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
import { fromIso, type Instant, systemClock, toIso } from '../base/clock.ts'
import { type Db, inTransaction } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { type Command, type CommandOutput, type Environment, readArguments, withDatabase } from './command.ts'
import { readBrandId, readMemberId, readOrganizationId, requireOrganization } from './ids.ts'
import { currentOperator } from './operator.ts'

/** What a key may do when nothing else is said: everything but managing members. */
export const defaultScopes: readonly Scope[] = scopes.filter(scope => !managesMembers(scope))

export const keyCommand: Command = {
  usage: `./mailroom key create --org ID [--brand ID] [--name NAME] [--scopes A,B] [--expires TIME] [--json]
./mailroom key create --member ID [--brand ID] [--name NAME] [--scopes A,B] [--expires TIME] [--json]
./mailroom key list [--org ID] [--json]
./mailroom key disable ID [--json]
./mailroom key enable ID [--json]
./mailroom key revoke ID [--json]

create makes an API key and shows it, this once. --brand restricts it to one brand of the organization.
  --member makes it as that member would: an owner's or admin's is the organization's; anyone else's needs --brand, is
  theirs, and never does more than they may.
  Without --scopes it may do everything but manage members, as far as its member may. The scopes are:
  ${scopes.join(' ').replace(/(.{60,90}) /g, '$1\n  ')}
  --expires takes a time such as 2027-01-31T00:00:00Z; without it the key does not expire.
list shows the keys of an organization, or of all, without their secrets: whose each is, who made it, and when it was last used.
disable keeps a key from being taken, from its very next request on, until enable.
revoke ends a key: its very next request is refused, and nothing brings it back.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'create') return create(args, env)
    if (verb === 'list') return list(args, env)
    if (verb === 'disable' || verb === 'enable' || verb === 'revoke') return change(verb, args, env)
    throw new UsageError(`key takes create, list, disable, enable or revoke, not "${verb ?? ''}"`)
  },
}

async function create(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const { options } = readArguments(args, { options: ['org', 'member', 'brand', 'name', 'scopes', 'expires'] })
  if (options['org'] !== undefined && options['member'] !== undefined)
    throw new UsageError('--org and --member exclude each other: a member belongs to one organization')
  const maker =
    options['member'] === undefined
      ? { organizationId: readOrganizationId(options['org']) }
      : { memberId: readMemberId(options['member']) }
  const wanted: NewKeyRequest = {
    brandId: options['brand'] === undefined ? null : readBrandId(options['brand']),
    name: options['name'] ?? 'Made on the command line',
    scopes: options['scopes'] === undefined ? undefined : readScopes(options['scopes']),
    expiresAt: options['expires'] === undefined ? null : readInstant(options['expires']),
  }
  const made = await withDatabase(env, async db => {
    const made =
      'memberId' in maker
        ? await createAsMember(db, maker.memberId, wanted)
        : await createAsOperator(db, maker.organizationId, wanted)
    const detail = { ...maker, brand_id: wanted.brandId, name: wanted.name }
    await recordAuditEntry(db, currentOperator(env), { action: 'key.create', subject: made.id, detail })
    return made
  })
  return { json: made, text: `Made the key ${made.id}. It is shown this once:\n${made.key}` }
}

type NewKeyRequest = Omit<MemberKeyRequest, 'scopes'> & { readonly scopes: readonly Scope[] | undefined }

async function createAsOperator(db: Db, organizationId: Id<'org'>, wanted: NewKeyRequest): Promise<CreatedKey> {
  await requireOrganization(db, organizationId)
  if (wanted.brandId) await loadBrand(db, { organizationId, brandId: null }, wanted.brandId)
  return createKey(db, { ...wanted, organizationId, scopes: wanted.scopes ?? defaultScopes }, systemClock)
}

async function createAsMember(db: Db, memberId: Id<'mem'>, wanted: NewKeyRequest): Promise<CreatedKey> {
  const found = await findMember(db, memberId)
  if (!found) throw new CommandError(`There is no member ${memberId}.`)
  const { organizationId, permissions } = found
  const granted = defaultScopes.filter(defaultScope => permissions.has(defaultScope))
  return createKeyAsMember(
    db,
    { organizationId, memberId },
    { ...wanted, scopes: wanted.scopes ?? granted },
    systemClock,
  )
}

async function list(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const { options } = readArguments(args, { options: ['org'] })
  const organizationId = options['org'] === undefined ? null : readOrganizationId(options['org'])
  const keys = await withDatabase(env, async db => {
    if (organizationId !== null) await requireOrganization(db, organizationId)
    return listKeys(db, organizationId)
  })
  const told = (listedKey: ListedKey) =>
    organizationId === null ? `${listedKey.organizationId}  ${line(listedKey)}` : line(listedKey)
  return { json: keys.map(toJsonKey), text: keys.map(told).join('\n') }
}

const changes = {
  disable: { json: { disabled: true }, says: 'Disabled', make: disableKey },
  enable: { json: { disabled: false }, says: 'Enabled', make: enableKey },
  revoke: { json: { revoked: true }, says: 'Revoked', make: revokeKey },
} as const

async function change(verb: keyof typeof changes, args: readonly string[], env: Environment): Promise<CommandOutput> {
  const [id = ''] = readArguments(args, { words: ['ID'] }).words
  const { json, says, make } = changes[verb]
  const isThere = await withDatabase(env, db =>
    inTransaction(db, async tx => {
      if (!(await make(tx, id, systemClock))) return false
      await recordAuditEntry(tx, currentOperator(env), { action: `key.${verb}`, subject: id })
      return true
    }),
  )
  if (!isThere) throw new CommandError(`There is no key ${id}.`)
  return { json: { id, ...json }, text: `${says} ${id}.` }
}

function toJsonKey(listedKey: ListedKey) {
  const time = (at: Instant | null) => at && toIso(at)
  return {
    id: listedKey.id,
    organization_id: listedKey.organizationId,
    name: listedKey.name,
    brand_id: listedKey.brandId,
    scopes: listedKey.scopes,
    created_at: toIso(listedKey.createdAt),
    expires_at: time(listedKey.expiresAt),
    revoked_at: time(listedKey.revokedAt),
    disabled_at: time(listedKey.disabledAt),
    last_used_at: time(listedKey.lastUsedAt),
    member: listedKey.member,
    made_by: listedKey.maker,
  }
}

/** Whose it is, and who made it where that says more. */
function owner({ member, maker }: ListedKey): string {
  const name = ({ id, email }: KeyMember) => (email === null ? `${id}, a member no more` : `${email}, ${id}`)
  if (member) return `of ${name(member)}`
  return `the organization’s own, made ${maker ? `by ${name(maker)}` : 'on the command line'}`
}

function stateOf(listedKey: ListedKey): string {
  const { revoked_at, disabled_at, expires_at } = toJsonKey(listedKey)
  if (revoked_at) return `revoked ${revoked_at}`
  if (disabled_at) return `disabled ${disabled_at}`
  return expires_at ? `expires ${expires_at}` : 'does not expire'
}

function line(listedKey: ListedKey): string {
  const { last_used_at } = toJsonKey(listedKey)
  const reach = listedKey.brandId ?? 'the whole organization'
  return `${listedKey.id}  ${listedKey.name}  (${reach}; ${stateOf(listedKey)}; last used ${last_used_at ?? 'never'})\n  ${owner(listedKey)}\n  ${listedKey.scopes.join(' ')}`
}

function readScopes(text: string): readonly Scope[] {
  return text.split(',').map(value => {
    const scope = value.trim()
    if (!isScope(scope)) throw new UsageError(`"${scope}" is not a scope; there are ${scopes.join(', ')}`)
    return scope
  })
}

function readInstant(text: string): Instant {
  const at = fromIso(text)
  if (!at) throw new UsageError(`"${text}" is not a time such as 2027-01-31T00:00:00Z`)
  if (at <= systemClock.now()) throw new UsageError(`${text} is past`)
  return at
}
