import type { Id } from '../../base/ids.ts'
import { CommandError, UsageError } from '../../base/operator-error.ts'
import { changeRetentionPolicy, maxRetentionDays } from '../../retention/policies/change-policy.ts'
import {
  isRetentionKind,
  minimumDays,
  type RetentionDays,
  type RetentionKind,
  retentionKindNames,
} from '../../retention/policies/kinds.ts'
import { loadRetentionPolicies, type PolicyScope } from '../../retention/policies/policies.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { readCommandConfig, withDatabase } from '../database.ts'
import { brandId, organizationId } from '../values.ts'

export const show = defineCommand({
  name: 'retention show',
  summary: 'Show how long everything is kept',
  async run(_values, { env }) {
    const settings = readCommandConfig(env)
    const { rows } = await withDatabase(env, db => loadRetentionPolicies(db, settings))
    const lines = rows.map(({ scope, kind, days }) => `${scope.padEnd(30)}  ${kind.padEnd(12)}  ${describeDays(days)}`)
    const json = rows.map(({ scope, kind, days }) => ({ scope, kind, days }))
    return { json, text: lines.join('\n') }
  },
})

export const set = defineCommand({
  name: 'retention set',
  summary: 'Set how long a kind is kept',
  details: `Without --org and --brand it is set for the whole instance. What is set for an organization holds for its brands
that have nothing set themselves. The change takes effect within a minute.`,
  arguments: {
    kind: { placeholder: 'KIND', description: retentionKindNames.join(', '), read: readKind },
    days: { placeholder: 'DAYS', description: 'a number of days, forever, or inherit: remove what was set' },
  },
  options: {
    org: { ...organizationId, description: 'set it for this organization' },
    brand: { ...brandId, description: 'set it for this brand' },
  },
  async run({ kind, days: text, org, brand }, { env }) {
    const days = readDays(text, minimumDays(kind, readCommandConfig(env)))
    const scope = scopeOf(org, brand)
    const isSet = await withDatabase(env, db => changeRetentionPolicy(db, currentOperator(env), { scope, kind, days }))
    if (!isSet) throw new CommandError(`There is no ${org === undefined ? 'brand' : 'organization'} ${scope}.`)
    const period = days === 'inherit' ? 'as long as its organization or the instance sets' : describeDays(days)
    return { json: { scope, kind, days }, text: `${scope}: ${kind} is kept ${period}.` }
  },
})

export function describeDays(days: RetentionDays): string {
  if (days === null) return 'forever'
  return days === 1 ? '1 day' : `${days} days`
}

function scopeOf(org: Id<'org'> | undefined, brand: Id<'brd'> | undefined): PolicyScope {
  if (org !== undefined && brand !== undefined)
    throw new UsageError('--org and --brand exclude each other: a brand belongs to one organization')
  return brand ?? org ?? 'instance'
}

function readKind(text: string): RetentionKind {
  if (!isRetentionKind(text))
    throw new UsageError(`"${text}" is not a kind; there are ${retentionKindNames.join(', ')}`)
  return text
}

function readDays(text: string, minimum: number): RetentionDays | 'inherit' {
  if (text === 'inherit') return text
  if (text === 'forever') return null
  const days = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (days >= minimum && days <= maxRetentionDays) return days
  throw new UsageError(
    `"${text}" is neither forever, inherit nor a number of days from ${minimum} to ${maxRetentionDays}`,
  )
}
