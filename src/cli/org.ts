import { createOrganization, listOrganizations } from '../accounts/organizations.ts'
import { includedEmails, type Plan } from '../accounts/plans.ts'
import { systemClock, toIso } from '../base/clock.ts'
import { type Command, type Environment, onDatabase, readArgs, type Told } from './command.ts'
import { UsageTrouble } from './trouble.ts'

const maxNameLength = 120
const plans = Object.keys(includedEmails)

export const org: Command = {
  usage: `./mailroom org create NAME [--plan ${plans.join('|')}] [--json]
./mailroom org list [--json]

create makes an organization and prints its id; its plan is unlimited unless you say otherwise.
list shows all organizations.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'create') return create(args, env)
    if (verb === 'list') return list(args, env)
    throw new UsageTrouble(`org takes create or list, not "${verb ?? ''}"`)
  },
}

async function create(args: readonly string[], env: Environment): Promise<Told> {
  const { words, options } = readArgs(args, { words: ['NAME'], options: ['plan'] })
  const name = words[0]?.trim() ?? ''
  const plan = options['plan'] ?? 'unlimited'
  if (!name || name.length > maxNameLength) throw new UsageTrouble(`a name has 1 to ${maxNameLength} characters`)
  if (!isPlan(plan)) throw new UsageTrouble(`"${plan}" is not a plan; there are ${plans.join(', ')}`)
  const { id } = await onDatabase(env, db => createOrganization(db, { name, plan }, systemClock))
  return {
    json: { id, name, plan },
    text: `Made the organization ${id}. A key for it: ./mailroom key create --org ${id}`,
  }
}

function isPlan(text: string): text is Plan {
  return plans.includes(text)
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
