import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { isPermission, type Permission, permissions } from '../accounts/keys/permissions.ts'
import {
  addMember,
  changeRole,
  findMember,
  listMembers,
  type MemberAccess,
  removeMember,
} from '../accounts/members/members.ts'
import { canonicalEmail, type MemberJson, roles } from '../accounts/members/schema.ts'
import { systemClock } from '../base/clock.ts'
import { type Db, inTransaction } from '../base/database/database.ts'
import type { Role } from '../base/database/schema.ts'
import type { Id } from '../base/ids.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import {
  type Command,
  type CommandOutput,
  type Environment,
  type ParsedArguments,
  readArguments,
  withDatabase,
} from './command.ts'
import { readBrandId, readMemberId, readOrganizationId, requireOrganization } from './ids.ts'
import { currentOperator } from './operator.ts'

const maxNameLength = 120

export const memberCommand: Command = {
  usage: `./mailroom member add --org ID --email ADDRESS --name NAME --role ${roles.join('|')}
    [--brand ID]... [--permissions A,B] [--json]
./mailroom member list --org ID [--json]
./mailroom member role ID ${roles.join('|')} [--brand ID]... [--permissions A,B] [--json]
./mailroom member remove ID [--json]

add makes someone a member of an organization. Owners and admins may do everything, in all its brands; only owners
  remove owners and admins. A member has the brands that --brand names, at least one, and there what --permissions
  says, or everything without it. The permissions are:
  ${permissions.join(' ').replace(/(.{60,90}) /g, '$1\n  ')}
list shows who they are and what they may do.
role makes someone an owner, an admin or a member; their keys feel it with their very next request.
remove takes someone out and revokes their own keys; those that they made for the organization go on.
The last owner of an organization can neither be removed nor become anything else.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'add') return add(args, env)
    if (verb === 'list') return list(args, env)
    if (verb === 'role') return role(args, env)
    if (verb === 'remove') return remove(args, env)
    throw new UsageError(`member takes add, list, role or remove, not "${verb ?? ''}"`)
  },
}

async function add(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const called = readArguments(args, { options: ['org', 'email', 'name', 'role'], lists: ['brand', 'permissions'] })
  const { options } = called
  const wanted = {
    organizationId: readOrganizationId(options['org']),
    email: readEmail(options['email']),
    name: readName(options['name']),
    access: readReach(readRole(options['role']), called),
  }
  const made = await withDatabase(env, async db => {
    await requireOrganization(db, wanted.organizationId)
    return inTransaction(db, async tx => {
      const made = await addMember(tx, wanted, systemClock)
      const detail = { organization_id: wanted.organizationId, ...wanted.access }
      await recordAuditEntry(tx, currentOperator(env), { action: 'member.add', subject: made.id, detail })
      return made
    })
  })
  return { json: made, text: `Made ${made.email} a member: ${line(made)}` }
}

async function list(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const organizationId = readOrganizationId(readArguments(args, { options: ['org'] }).options['org'])
  const members = await withDatabase(env, async db => {
    await requireOrganization(db, organizationId)
    return allMembers(db, organizationId)
  })
  return { json: members, text: members.map(line).join('\n') }
}

async function allMembers(db: Db, organizationId: Id<'org'>): Promise<readonly MemberJson[]> {
  const members: MemberJson[] = []
  let cursor: string | undefined
  do {
    const page = await listMembers({ db }, { organizationId }, { limit: '200', cursor })
    members.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return members
}

async function role(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const called = readArguments(args, { words: ['ID', 'ROLE'], lists: ['brand', 'permissions'] })
  const [text = '', wanted = ''] = called.words
  const id = readMemberId(text)
  const access = readReach(readRole(wanted), called)
  const changed = await withDatabase(env, async db => {
    const changed = await changeRole({ db }, await organizationOf(db, id), id, access)
    await recordAuditEntry(db, currentOperator(env), { action: 'member.role', subject: id, detail: { ...access } })
    return changed
  })
  return { json: changed, text: line(changed) }
}

async function remove(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const [text = ''] = readArguments(args, { words: ['ID'] }).words
  const id = readMemberId(text)
  const removed = await withDatabase(env, async db => {
    const operator = { organizationId: await organizationOf(db, id), role: 'owner' } as const
    const removed = await removeMember({ db, clock: systemClock }, operator, id)
    const detail = { organization_id: operator.organizationId }
    await recordAuditEntry(db, currentOperator(env), { action: 'member.remove', subject: id, detail })
    return removed
  })
  return { json: removed, text: `Removed ${id} and revoked their keys.` }
}

async function organizationOf(db: Db, id: Id<'mem'>): Promise<Id<'org'>> {
  const found = await findMember(db, id)
  if (!found) throw new CommandError(`There is no member ${id}.`)
  return found.organizationId
}

function line(each: MemberJson): string {
  const access = each.brand_ids ? `${each.brand_ids.join(' ')}\n  ${each.permissions.join(' ')}` : 'everything'
  return `${each.id}  ${each.role}  ${each.name} <${each.email}>  (last active ${each.last_active_at ?? 'never'})\n  ${access}`
}

function readEmail(text: string | undefined): string {
  if (text === undefined) throw new UsageError('--email is absent')
  const email = canonicalEmail(text)
  if (email === undefined) throw new UsageError(`"${text}" is not an address such as name@example.com`)
  return email
}

function readName(text: string | undefined): string {
  const name = text?.trim() ?? ''
  if (!name || name.length > maxNameLength || /\p{Cc}/u.test(name))
    throw new UsageError(`--name takes a name of 1 to ${maxNameLength} characters on one line`)
  return name
}

function readRole(text: string | undefined): Role {
  const found = roles.find(role => role === text)
  if (!found) throw new UsageError(text === undefined ? '--role is absent' : `"${text}" is none of ${roles.join(', ')}`)
  return found
}

function readReach(role: Role, { lists }: Pick<ParsedArguments, 'lists'>): MemberAccess {
  const { brand, permissions: granted } = lists
  if (role === 'member') {
    if (!brand) throw new UsageError('--brand is absent: a member has at least one brand')
    return { role, brandIds: brand.map(readBrandId), permissions: granted?.map(readPermission) ?? permissions }
  }
  if (brand || granted) throw new UsageError(`an ${role} may do everything; --brand and --permissions are for members`)
  return { role }
}

function readPermission(text: string): Permission {
  if (!isPermission(text)) throw new UsageError(`"${text}" is not a permission; there are ${permissions.join(', ')}`)
  return text
}
