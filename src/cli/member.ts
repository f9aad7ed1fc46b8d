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
import { type MemberJson, roles } from '../accounts/members/schema.ts'
import { systemClock } from '../base/clock.ts'
import { type Db, inTransaction } from '../base/database/database.ts'
import type { Role } from '../base/database/schema.ts'
import type { Id } from '../base/ids.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { defineCommand, defineGroup } from './command.ts'
import { currentOperator } from './current-operator.ts'
import { databaseNote, withDatabase } from './database.ts'
import { linkCommand } from './member/link.ts'
import { requireOrganization } from './require-organization.ts'
import { brandId, choice, emailAddress, memberId, organizationId } from './values.ts'

const maxNameLength = 120

const accessOptions = {
  brand: { ...brandId, description: 'a brand that a member has access to; at least one', repeatable: true },
  permissions: {
    placeholder: 'A,B',
    description: 'what a member may do in these brands; without it everything',
    read: readPermission,
    repeatable: true,
  },
} as const

const add = defineCommand({
  name: 'member add',
  summary: 'Add an owner, an admin, or a member with access to some brands',
  details: `Owners and admins may do everything in all brands of the organization; only owners can remove owners and
admins. The permissions of a member are:

${permissions.join(' ')}`,
  options: {
    org: { ...organizationId, description: 'the organization', required: true },
    email: { ...emailAddress, description: 'the address of the person', required: true },
    name: { placeholder: 'NAME', description: 'the name of the person', read: readName, required: true },
    role: { ...choice(roles), description: 'the role', required: true },
    ...accessOptions,
  },
  async run({ org, email, name, role, brand, permissions }, { env }) {
    const access = readAccess(role, brand, permissions)
    const member = await withDatabase(env, async db => {
      await requireOrganization(db, org)
      return inTransaction(db, async tx => {
        const added = await addMember(tx, { organizationId: org, email, name, access }, systemClock)
        const entry = { action: 'member.add', subject: added.id, detail: { email, ...access }, organizationId: org }
        await recordAuditEntry(tx, currentOperator(env), entry)
        return added
      })
    })
    return {
      json: member,
      text: `Added ${member.email}: ${describe(member)}\nTo let them sign in: ./mailroom member link ${member.id}`,
    }
  },
})

const list = defineCommand({
  name: 'member list',
  summary: 'List the members of an organization and what they may do',
  options: { org: { ...organizationId, description: 'the organization', required: true } },
  async run({ org }, { env }) {
    const members = await withDatabase(env, async db => {
      await requireOrganization(db, org)
      return listAllMembers(db, org)
    })
    return { json: members, text: members.map(describe).join('\n') }
  },
})

const setRole = defineCommand({
  name: 'member role',
  summary: 'Change the role of a member',
  details: `Their keys are bound by the new role from the next request on. The last owner of an organization cannot get
another role.`,
  arguments: { id: memberId, role: { ...choice(roles), placeholder: 'ROLE', description: roles.join(', ') } },
  options: accessOptions,
  async run({ id, role, brand, permissions }, { env }) {
    const access = readAccess(role, brand, permissions)
    const member = await withDatabase(env, async db => {
      const operator = { organizationId: await organizationOf(db, id), role: 'owner' } as const
      const changed = await changeRole({ db, clock: systemClock }, operator, id, access)
      const entry = { action: 'member.role', subject: id, detail: { ...access } }
      await recordAuditEntry(db, currentOperator(env), { ...entry, organizationId: operator.organizationId })
      return changed
    })
    return { json: member, text: describe(member) }
  },
})

const remove = defineCommand({
  name: 'member remove',
  summary: 'Remove a member and revoke their keys',
  details: `Keys that they created for the organization keep working. The last owner of an organization cannot be
removed.`,
  arguments: { id: memberId },
  async run({ id }, { env }) {
    const removed = await withDatabase(env, async db => {
      const operator = { organizationId: await organizationOf(db, id), role: 'owner' } as const
      const removed = await removeMember({ db, clock: systemClock }, operator, id)
      const entry = { action: 'member.remove', subject: id, organizationId: operator.organizationId }
      await recordAuditEntry(db, currentOperator(env), entry)
      return removed
    })
    return { json: removed, text: `Removed ${id} and revoked their keys.` }
  },
})

export const memberCommand = defineGroup('member', databaseNote, [add, list, linkCommand, setRole, remove])

async function listAllMembers(db: Db, organizationId: Id<'org'>): Promise<readonly MemberJson[]> {
  const members: MemberJson[] = []
  let cursor: string | undefined
  do {
    const page = await listMembers({ db }, { organizationId }, { limit: '200', cursor })
    members.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return members
}

async function organizationOf(db: Db, id: Id<'mem'>): Promise<Id<'org'>> {
  const member = await findMember(db, id)
  if (!member) throw new CommandError(`There is no member ${id}.`)
  return member.organizationId
}

function describe(member: MemberJson): string {
  const { id, role, name, email, brand_ids, permissions, last_active_at } = member
  const access = brand_ids ? `${brand_ids.join(' ')}\n  ${permissions.join(' ')}` : 'everything'
  return `${id}  ${role}  ${name} <${email}>  (last active ${last_active_at ?? 'never'})\n  ${access}`
}

function readName(text: string): string {
  const name = text.trim()
  if (!name || name.length > maxNameLength || /\p{Cc}/u.test(name))
    throw new UsageError(`a name has 1 to ${maxNameLength} characters on one line`)
  return name
}

function readPermission(text: string): Permission {
  if (!isPermission(text)) throw new UsageError(`"${text}" is not a permission; there are ${permissions.join(', ')}`)
  return text
}

function readAccess(
  role: Role,
  brandIds: readonly Id<'brd'>[] | undefined,
  granted: readonly Permission[] | undefined,
): MemberAccess {
  if (role === 'member') {
    if (!brandIds) throw new UsageError('--brand is missing: a member has at least one brand')
    return { role, brandIds, permissions: granted ?? permissions }
  }
  if (brandIds || granted)
    throw new UsageError(`an ${role} may do everything; --brand and --permissions are for members`)
  return { role }
}
