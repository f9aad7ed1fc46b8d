import { changePlan, createOrganization, findOrganization, listOrganizations } from '../accounts/organizations.ts'
import { includedEmails, type Plan, usageOf } from '../accounts/plans.ts'
import { systemClock, toIso } from '../base/clock.ts'
import { type Id, isId } from '../base/ids.ts'
import { type Command, type Environment, onDatabase, readArgs, type Told } from './command.ts'
import { CommandTrouble, UsageTrouble } from './trouble.ts'

const maxNameLength = 120
const plans = Object.keys(includedEmails)

export const org: Command = {
  usage: `./mailroom org create NAME [--plan ${plans.join('|')}] [--json]
./mailroom org list [--json]
./mailroom org show ID [--json]
./mailroom org plan ID ${plans.join('|')} [--json]

create makes an organization and prints its id; its plan is unlimited unless you say otherwise.
list shows all organizations.
show tells an organization's plan and how much of it is used this calendar month (UTC).
plan puts an organization on another plan, from its next email on.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'create') return create(args, env)
    if (verb === 'list') return list(args, env)
    if (verb === 'show') return show(args, env)
    if (verb === 'plan') return plan(args, env)
    throw new UsageTrouble(`org takes create, list, show or plan, not "${verb ?? ''}"`)
  },
}

async function create(args: readonly string[], env: Environment): Promise<Told> {
  const { words, options } = readArgs(args, { words: ['NAME'], options: ['plan'] })
  const name = words[0]?.trim() ?? ''
  const plan = options['plan'] ?? 'unlimited'
  if (!name || name.length > maxNameLength) throw new UsageTrouble(`a name has 1 to ${maxNameLength} characters`)
  requirePlan(plan)
  const { id } = await onDatabase(env, db => createOrganization(db, { name, plan }, systemClock))
  return {
    json: { id, name, plan },
    text: `Made the organization ${id}. A key for it: ./mailroom key create --org ${id}`,
  }
}

function requirePlan(text: string): asserts text is Plan {
  if (!plans.includes(text)) throw new UsageTrouble(`"${text}" is not a plan; there are ${plans.join(', ')}`)
}

function readId(text: string): Id<'org'> {
  if (!isId('org', text)) throw new UsageTrouble(`"${text}" is not the id of an organization`)
  return text
}

async function show(args: readonly string[], env: Environment): Promise<Told> {
  const [text = ''] = readArgs(args, { words: ['ID'] }).words
  const id = readId(text)
  const shown = await onDatabase(env, async db => {
    const organization = (await findOrganization(db, id)) ?? unknown(id)
    return { ...organization, ...(await usageOf(db, organization, systemClock.now())) }
  })
  const { name, plan, created_at, month, used, included, overage } = shown
  const beyond = overage > 0 ? `, ${overage} of them overage` : ''
  return {
    json: { id, name, plan, created_at: toIso(created_at), month, used, included, overage },
    text: `${id}  ${name}\nplan ${plan}: ${used} of ${included ?? 'any number of'} emails in ${month}${beyond}`,
  }
}

async function plan(args: readonly string[], env: Environment): Promise<Told> {
  const [text = '', wanted = ''] = readArgs(args, { words: ['ID', 'PLAN'] }).words
  const id = readId(text)
  requirePlan(wanted)
  const { name, plan } = await onDatabase(env, async db => (await changePlan(db, id, wanted)) ?? unknown(id))
  return { json: { id, name, plan }, text: `${id} is on the plan ${plan}.` }
}

function unknown(id: string): never {
  throw new CommandTrouble(`There is no organization ${id}.`)
}

async function list(args: readonly string[], env: Environment): Promise<Told> {
  readArgs(args, {})
  const organizations = await onDatabase(env, listOrganizations)
  const rows = organizations.map(({ id, name, plan, created_at }) => ({
    id,
    name,
    plan,
    created_at: toIso(created_at),
  }))
  return { json: rows, text: rows.map(row => `${row.id}  ${row.plan.padEnd(9)}  ${row.name}`).join('\n') }
}
