import { recordAuditEntry } from '../accounts/audit/audit.ts'
import {
  type CreatedOrganization,
  changePlanByOperator,
  createOrganizationByOperator,
} from '../accounts/organizations/operator-changes.ts'
import {
  changeOrganization,
  findOrganization,
  listOrganizations,
  listOrganizationUsage,
  maxCounted,
  removeOrganization,
} from '../accounts/organizations/organizations.ts'
import { getUsage, includedEmails, type Plan } from '../accounts/organizations/quota.ts'
import { systemClock, toIso } from '../base/clock.ts'
import { inTransaction } from '../base/database/database.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { defineCommand, defineGroup, type Environment } from './command.ts'
import { currentOperator } from './current-operator.ts'
import { databaseNote, withDatabase } from './database.ts'
import { defaultKeyName, defaultScopes } from './key.ts'
import { operatorFlag, ownerCommand, printOwner } from './org/owner.ts'
import { emailAddress, organizationId } from './values.ts'

const maxNameLength = 120
const plans = Object.keys(includedEmails)
const planInput = { placeholder: plans.join('|'), read: readPlan }

const create = defineCommand({
  name: 'org create',
  summary: 'Create an organization and print its id',
  details: `With --owner it gets an owner, and a link is printed that signs them in to the dashboard, once, within 24 hours. If the
link is lost, or for another owner: ./mailroom org owner ID EMAIL.`,
  arguments: { name: { placeholder: 'NAME', read: readName } },
  options: {
    plan: { ...planInput, description: 'its plan', default: 'unlimited' },
    owner: { ...emailAddress, description: 'the address of its first owner' },
    operator: operatorFlag,
    'with-key': { description: 'also create its first API key, as ./mailroom key create does; it is shown only once' },
  },
  async run({ name, plan, owner, operator: isOperator, 'with-key': withKey }, { env }) {
    if (isOperator && owner === undefined) throw new UsageError('--operator needs --owner')
    const created = await withDatabase(env, db =>
      createOrganizationByOperator(
        db,
        currentOperator(env),
        { name, plan },
        {
          owner: owner === undefined ? null : { email: owner, isOperator },
          key: withKey ? { name: defaultKeyName, scopes: defaultScopes } : null,
        },
      ),
    )
    return describeCreated(env, created)
  },
})

const list = defineCommand({
  name: 'org list',
  summary: "List all organizations with their plans and this month's usage",
  details: 'A month is a calendar month in UTC.',
  async run(_values, { env }) {
    const organizations = await withDatabase(env, db => listOrganizationUsage(db, systemClock.now()))
    const rows = organizations.map(({ created_at, updated_at: _, ...rest }) => ({
      ...rest,
      created_at: toIso(created_at),
    }))
    const sent = ({ used, included, month }: (typeof rows)[number]) =>
      `${used}${included === null ? '' : ` of ${included}`} emails in ${month}`
    return {
      json: rows,
      text: rows.map(row => `${row.id}  ${row.plan.padEnd(9)}  ${row.name}  (${sent(row)})`).join('\n'),
    }
  },
})

const show = defineCommand({
  name: 'org show',
  summary: "Show an organization's plan and this month's usage",
  arguments: { id: organizationId },
  async run({ id }, { env }) {
    const organization = await withDatabase(env, async db => {
      const found = (await findOrganization(db, id)) ?? refuseUnknown(id)
      return { ...found, ...(await getUsage(db, found, systemClock.now())) }
    })
    const { name, plan, created_at, month, used, included, overage } = organization
    const beyond = overage > 0 ? `, ${overage} of them overage` : ''
    return {
      json: { id, name, plan, created_at: toIso(created_at), month, used, included, overage },
      text: `${id}  ${name}\nplan ${plan}: ${used} of ${included ?? 'any number of'} emails in ${month}${beyond}`,
    }
  },
})

const setPlan = defineCommand({
  name: 'org plan',
  summary: 'Move an organization to another plan, from its next email on',
  arguments: { id: organizationId, plan: { ...planInput, placeholder: 'PLAN', description: plans.join(', ') } },
  async run({ id, plan }, { env }) {
    const changed = await withDatabase(env, db => changePlanByOperator(db, currentOperator(env), id, plan))
    const { name } = changed ?? refuseUnknown(id)
    return { json: { id, name, plan }, text: `${id} is on the plan ${plan}.` }
  },
})

const listPlans = defineCommand({
  name: 'org plans',
  summary: 'List the plans, what each includes and how many organizations are on it',
  async run(_values, { env }) {
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
        .map(
          row => `${row.plan.padEnd(9)}  ${includes(row.included)} emails a month, ${row.organizations} organizations`,
        )
        .join('\n'),
    }
  },
})

const rename = defineCommand({
  name: 'org rename',
  summary: 'Rename an organization',
  arguments: { id: organizationId, name: { placeholder: 'NAME', read: readName } },
  async run({ id, name }, { env }) {
    const { plan } = await withDatabase(env, db =>
      inTransaction(db, async tx => {
        const { before, after } = (await changeOrganization(tx, systemClock, id, { name })) ?? refuseUnknown(id)
        const detail = { from: before.name, to: name }
        const entry = { action: 'org.rename', subject: id, detail, organizationId: id }
        if (after !== before) await recordAuditEntry(tx, currentOperator(env), entry)
        return after
      }),
    )
    return { json: { id, name, plan }, text: `Renamed ${id} to ${name}.` }
  },
})

const remove = defineCommand({
  name: 'org delete',
  summary: 'Delete an organization that has no members, domains or mail left',
  details: `Deletes an organization without members, domains, mailboxes, emails, messages, templates, drafts and
suppressions, together with its brands and keys. While it has any of these, the command lists them and deletes nothing.`,
  arguments: { id: organizationId },
  async run({ id }, { env }) {
    const remaining = await withDatabase(env, db =>
      inTransaction(db, async tx => {
        const { name } = (await findOrganization(tx, id)) ?? refuseUnknown(id)
        const remaining = (await removeOrganization(tx, id)) ?? refuseUnknown(id)
        if (Object.keys(remaining).length === 0)
          await recordAuditEntry(tx, currentOperator(env), {
            action: 'org.delete',
            subject: id,
            detail: { name },
            organizationId: id,
          })
        return remaining
      }),
    )
    const counts = Object.entries(remaining).map(
      ([kind, count]) => `${count >= maxCounted ? 'at least ' : ''}${count} ${kind}`,
    )
    if (counts.length > 0) throw new CommandError(`${id} still has ${counts.join(', ')}; nothing was deleted.`)
    return { json: { id, deleted: true }, text: `Deleted ${id}.` }
  },
})

export const orgCommand = defineGroup('org', databaseNote, [
  create,
  ownerCommand,
  list,
  show,
  setPlan,
  listPlans,
  rename,
  remove,
])

function describeCreated(env: Environment, { id, name, plan, owner, key }: CreatedOrganization) {
  const printed = owner && printOwner(env, owner)
  const lines = [
    `Created the organization ${id}.`,
    ...(key ? [`Its key ${key.id} is shown only once:\n${key.key}`] : []),
    ...(printed ? [printed.text] : []),
    ...(key || printed ? [] : [`To create a key for it: ./mailroom key create --org ${id}`]),
  ]
  return {
    json: {
      ...{ id, name, plan },
      ...(key && { key }),
      ...(printed && { owner: printed.json }),
    },
    text: lines.join('\n'),
  }
}

function readName(text: string): string {
  const name = text.trim()
  if (!name || name.length > maxNameLength) throw new UsageError(`a name has 1 to ${maxNameLength} characters`)
  return name
}

function readPlan(text: string): Plan {
  if (!isPlan(text)) throw new UsageError(`"${text}" is not a plan; there are ${plans.join(', ')}`)
  return text
}

function isPlan(text: string): text is Plan {
  return plans.includes(text)
}

function refuseUnknown(id: string): never {
  throw new CommandError(`There is no organization ${id}.`)
}
