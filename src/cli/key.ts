import { brandOf } from '../accounts/brands.ts'
import { createKey, type ListedKey, listKeys, type MadeKey, revokeKey } from '../accounts/keys.ts'
import { createKeyAs, type KeyWanted } from '../accounts/member-keys.ts'
import { findMember } from '../accounts/members.ts'
import { fromIso, type Instant, systemClock, toIso } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import type { Id } from '../base/ids.ts'
import { isScope, managesMembers, type Scope, scopes } from '../web/scope.ts'
import { type Command, type Environment, onDatabase, readArgs, type Told } from './command.ts'
import { readBrand, readMember, readOrganization, requireOrganization } from './ids.ts'
import { CommandTrouble, UsageTrouble } from './trouble.ts'

/** What a key may do when nothing else is said: everything but managing members. */
export const usualScopes: readonly Scope[] = scopes.filter(each => !managesMembers(each))

export const key: Command = {
  usage: `./mailroom key create --org ID [--brand ID] [--name NAME] [--scopes A,B] [--expires TIME] [--json]
./mailroom key create --member ID [--brand ID] [--name NAME] [--scopes A,B] [--expires TIME] [--json]
./mailroom key list --org ID [--json]
./mailroom key revoke ID [--json]

create makes an API key and shows it, this once. --brand restricts it to one brand of the organization.
  --member makes it as that member would: an owner's or admin's is the organization's; anyone else's needs --brand, is
  theirs, and never does more than they may.
  Without --scopes it may do everything but manage members, as far as its member may. The scopes are:
  ${scopes.join(' ').replace(/(.{60,90}) /g, '$1\n  ')}
  --expires takes a time such as 2027-01-31T00:00:00Z; without it the key does not expire.
list shows the organization's keys, without their secrets.
revoke ends a key: its very next request is refused.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'create') return create(args, env)
    if (verb === 'list') return list(args, env)
    if (verb === 'revoke') return revoke(args, env)
    throw new UsageTrouble(`key takes create, list or revoke, not "${verb ?? ''}"`)
  },
}

async function create(args: readonly string[], env: Environment): Promise<Told> {
  const { options } = readArgs(args, { options: ['org', 'member', 'brand', 'name', 'scopes', 'expires'] })
  if (options['org'] !== undefined && options['member'] !== undefined)
    throw new UsageTrouble('--org and --member exclude each other: a member belongs to one organization')
  const maker =
    options['member'] === undefined
      ? { organizationId: readOrganization(options['org']) }
      : { memberId: readMember(options['member']) }
  const wanted: Wanted = {
    brandId: options['brand'] === undefined ? null : readBrand(options['brand']),
    name: options['name'] ?? 'Made on the command line',
    scopes: options['scopes'] === undefined ? undefined : readScopes(options['scopes']),
    expiresAt: options['expires'] === undefined ? null : readInstant(options['expires']),
  }
  const made = await onDatabase(env, db =>
    'memberId' in maker
      ? createAsMember(db, maker.memberId, wanted)
      : createAsOperator(db, maker.organizationId, wanted),
  )
  return { json: made, text: `Made the key ${made.id}. It is shown this once:\n${made.key}` }
}

type Wanted = Omit<KeyWanted, 'scopes'> & { readonly scopes: readonly Scope[] | undefined }

async function createAsOperator(db: Db, organizationId: Id<'org'>, wanted: Wanted): Promise<MadeKey> {
  await requireOrganization(db, organizationId)
  if (wanted.brandId) await brandOf(db, { organizationId, brandId: null }, wanted.brandId)
  return createKey(db, { ...wanted, organizationId, scopes: wanted.scopes ?? usualScopes }, systemClock)
}

async function createAsMember(db: Db, memberId: Id<'mem'>, wanted: Wanted): Promise<MadeKey> {
  const found = await findMember(db, memberId)
  if (!found) throw new CommandTrouble(`There is no member ${memberId}.`)
  const { organizationId, permissions } = found
  const granted = usualScopes.filter(each => permissions.has(each))
  return createKeyAs(db, { organizationId, memberId }, { ...wanted, scopes: wanted.scopes ?? granted }, systemClock)
}

async function list(args: readonly string[], env: Environment): Promise<Told> {
  const { options } = readArgs(args, { options: ['org'] })
  const organizationId = readOrganization(options['org'])
  const keys = await onDatabase(env, async db => {
    await requireOrganization(db, organizationId)
    return listKeys(db, organizationId)
  })
  return { json: keys.map(shape), text: keys.map(line).join('\n') }
}

async function revoke(args: readonly string[], env: Environment): Promise<Told> {
  const [id = ''] = readArgs(args, { words: ['ID'] }).words
  const isRevoked = await onDatabase(env, db => revokeKey(db, id, systemClock))
  if (!isRevoked) throw new CommandTrouble(`There is no key ${id}.`)
  return { json: { id, revoked: true }, text: `Revoked ${id}.` }
}

function shape(each: ListedKey) {
  const time = (at: Instant | null) => at && toIso(at)
  return {
    id: each.id,
    name: each.name,
    brand_id: each.brandId,
    scopes: each.scopes,
    created_at: toIso(each.createdAt),
    expires_at: time(each.expiresAt),
    revoked_at: time(each.revokedAt),
    last_used_at: time(each.lastUsedAt),
  }
}

function line(each: ListedKey): string {
  const { revoked_at, expires_at, last_used_at } = shape(each)
  const state = revoked_at ? `revoked ${revoked_at}` : expires_at ? `expires ${expires_at}` : 'does not expire'
  const reach = each.brandId ?? 'the whole organization'
  return `${each.id}  ${each.name}  (${reach}; ${state}; last used ${last_used_at ?? 'never'})\n  ${each.scopes.join(' ')}`
}

function readScopes(text: string): readonly Scope[] {
  return text.split(',').map(each => {
    const scope = each.trim()
    if (!isScope(scope)) throw new UsageTrouble(`"${scope}" is not a scope; there are ${scopes.join(', ')}`)
    return scope
  })
}

function readInstant(text: string): Instant {
  const at = fromIso(text)
  if (!at) throw new UsageTrouble(`"${text}" is not a time such as 2027-01-31T00:00:00Z`)
  if (at <= systemClock.now()) throw new UsageTrouble(`${text} is past`)
  return at
}
