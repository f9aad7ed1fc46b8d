import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { type CreatedKey, createKey } from '../accounts/keys/keys.ts'
import {
  changePlan,
  createOrganization,
  findOrganization,
  listOrganizations,
  listOrganizationUsage,
  maxCounted,
  removeOrganization,
  renameOrganization,
} from '../accounts/organizations/organizations.ts'
import { getUsage, includedEmails, type Plan } from '../accounts/organizations/quota.ts'
import { systemClock, toIso } from '../base/clock.ts'
import { type Db, inTransaction } from '../base/database/database.ts'
import { type Id, isId } from '../base/ids.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { type Command, type CommandOutput, type Environment, readArguments, withDatabase } from './command.ts'
import { defaultScopes } from './key.ts'
import { currentOperator } from './operator.ts'

const maxNameLength = 120
const plans = Object.keys(includedEmails)

export const orgCommand: Command = {
  usage: `./mailroom org create NAME [--plan ${plans.join('|')}] [--with-key] [--json]
./mailroom org list [--json]
./mailroom org show ID [--json]
./mailroom org plan ID ${plans.join('|')} [--json]
./mailroom org plans [--json]
./mailroom org rename ID NAME [--json]
./mailroom org delete ID [--json]

create makes an organization and prints its id; its plan is unlimited unless you say otherwise.
  --with-key makes its first API key as well, as ./mailroom key create does, and shows it, this once.
list shows all organizations, with their plans and the emails that they sent this calendar month (UTC).
show tells an organization's plan and how much of it is used this calendar month (UTC).
plan puts an organization on another plan, from its next email on.
plans tells what each plan includes, and how many organizations are on it.
rename gives an organization another name.
delete takes away an organization that has no members, domains, mailboxes, emails, messages, templates, drafts and
  suppressions, with its brands and keys; while it has any of these it says so, and takes nothing.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'create') return create(args, env)
    if (verb === 'list') return list(args, env)
    if (verb === 'show') return show(args, env)
    if (verb === 'plan') return plan(args, env)
    if (verb === 'plans') return listPlans(args, env)
    if (verb === 'rename') return rename(args, env)
    if (verb === 'delete') return remove(args, env)
    throw new UsageError(`org takes create, list, show, plan, plans, rename or delete, not "${verb ?? ''}"`)
  },
}

async function create(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const { words, options, flags } = readArguments(args, { words: ['NAME'], options: ['plan'], flags: ['with-key'] })
  const name = readName(words[0])
  const plan = options['plan'] ?? 'unlimited'
  requirePlan(plan)
  const { id, key } = await withDatabase(env, async db => {
    const { id } = await createOrganization(db, { name, plan }, systemClock)
    await recordAuditEntry(db, currentOperator(env), { action: 'org.create', subject: id, detail: { name, plan } })
    return { id, key: flags.has('with-key') ? await createFirstKey(db, id) : null }
  })
  if (key)
    return {
      json: { id, name, plan, key },
      text: `Made the organization ${id} and the key ${key.id}. It is shown this once:\n${key.key}`,
    }
  return {
    json: { id, name, plan },
    text: `Made the organization ${id}. A key for it: ./mailroom key create --org ${id}`,
  }
}

function readName(text: string | undefined): string {
  const name = text?.trim() ?? ''
  if (!name || name.length > maxNameLength) throw new UsageError(`a name has 1 to ${maxNameLength} characters`)
  return name
}

function createFirstKey(db: Db, organizationId: Id<'org'>): Promise<CreatedKey> {
  const wanted = {
    organizationId,
    brandId: null,
    name: 'Made on the command line',
    scopes: defaultScopes,
    expiresAt: null,
  }
  return createKey(db, wanted, systemClock)
}

function requirePlan(text: string): asserts text is Plan {
  if (!plans.includes(text)) throw new UsageError(`"${text}" is not a plan; there are ${plans.join(', ')}`)
}

function readId(text: string): Id<'org'> {
  if (!isId('org', text)) throw new UsageError(`"${text}" is not the id of an organization`)
  return text
}

async function show(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const [text = ''] = readArguments(args, { words: ['ID'] }).words
  const id = readId(text)
  const shown = await withDatabase(env, async db => {
    const organization = (await findOrganization(db, id)) ?? unknown(id)
    return { ...organization, ...(await getUsage(db, organization, systemClock.now())) }
  })
  const { name, plan, created_at, month, used, included, overage } = shown
  const beyond = overage > 0 ? `, ${overage} of them overage` : ''
  return {
    json: { id, name, plan, created_at: toIso(created_at), month, used, included, overage },
    text: `${id}  ${name}\nplan ${plan}: ${used} of ${included ?? 'any number of'} emails in ${month}${beyond}`,
  }
}

async function plan(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const [text = '', wanted = ''] = readArguments(args, { words: ['ID', 'PLAN'] }).words
  const id = readId(text)
  requirePlan(wanted)
  const { name, plan } = await withDatabase(env, db =>
    inTransaction(db, async tx => {
      const changed = (await changePlan(tx, id, wanted)) ?? unknown(id)
      await recordAuditEntry(tx, currentOperator(env), { action: 'org.plan', subject: id, detail: { plan: wanted } })
      return changed
    }),
  )
  return { json: { id, name, plan }, text: `${id} is on the plan ${plan}.` }
}

function unknown(id: string): never {
  throw new CommandError(`There is no organization ${id}.`)
}

async function rename(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const [text = '', wanted] = readArguments(args, { words: ['ID', 'NAME'] }).words
  const id = readId(text)
  const name = readName(wanted)
  const { plan } = await withDatabase(env, db =>
    inTransaction(db, async tx => {
      const before = (await findOrganization(tx, id)) ?? unknown(id)
      await recordAuditEntry(tx, currentOperator(env), {
        action: 'org.rename',
        subject: id,
        detail: { from: before.name, to: name },
      })
      return (await renameOrganization(tx, id, name)) ?? unknown(id)
    }),
  )
  return { json: { id, name, plan }, text: `${id} is called ${name} now.` }
}

async function remove(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const [text = ''] = readArguments(args, { words: ['ID'] }).words
  const id = readId(text)
  const inTheWay = await withDatabase(env, db =>
    inTransaction(db, async tx => {
      const found = (await findOrganization(tx, id)) ?? unknown(id)
      const inTheWay = (await removeOrganization(tx, id)) ?? unknown(id)
      if (Object.keys(inTheWay).length === 0)
        await recordAuditEntry(tx, currentOperator(env), {
          action: 'org.delete',
          subject: id,
          detail: { name: found.name },
        })
      return inTheWay
    }),
  )
  const left = Object.entries(inTheWay).map(
    ([what, count]) => `${count >= maxCounted ? 'at least ' : ''}${count} ${what}`,
  )
  if (left.length > 0) throw new CommandError(`${id} still has ${left.join(', ')}; nothing was deleted.`)
  return { json: { id, deleted: true }, text: `Deleted ${id}.` }
}

async function listPlans(args: readonly string[], env: Environment): Promise<CommandOutput> {
  readArguments(args, {})
  const organizations = await withDatabase(env, listOrganizations)
  const rows = Object.entries(includedEmails).map(([name, included]) => ({
    plan: name,
    included,
    organizations: organizations.filter(organization => organization.plan === name).length,
  }))
  const includes = (count: number | null) => (count === null ? 'any number of' : `${count}`)
  return {
    json: rows,
    text: rows
      .map(row => `${row.plan.padEnd(9)}  ${includes(row.included)} emails a month, ${row.organizations} organizations`)
      .join('\n'),
  }
}

async function list(args: readonly string[], env: Environment): Promise<CommandOutput> {
  readArguments(args, {})
  const organizations = await withDatabase(env, db => listOrganizationUsage(db, systemClock.now()))
  const rows = organizations.map(({ created_at, ...rest }) => ({ ...rest, created_at: toIso(created_at) }))
  const sent = ({ used, included, month }: (typeof rows)[number]) =>
    `${used}${included === null ? '' : ` of ${included}`} emails in ${month}`
  return {
    json: rows,
    text: rows.map(row => `${row.id}  ${row.plan.padEnd(9)}  ${row.name}  (${sent(row)})`).join('\n'),
  }
}
