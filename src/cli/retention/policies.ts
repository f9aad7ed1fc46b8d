import { recordAuditEntry } from '../../accounts/audit/audit.ts'
import { readConfig } from '../../base/config/config.ts'
import { inTransaction } from '../../base/database/database.ts'
import { CommandError, UsageError } from '../../base/operator-error.ts'
import { isRetentionKind, minimumDays, type RetentionDays, retentionKindNames } from '../../retention/policies/kinds.ts'
import { loadRetentionPolicies, type PolicyScope, setRetentionPolicy } from '../../retention/policies/policies.ts'
import { selectBrandOrganization } from '../../retention/policies/table.ts'
import { type CommandOutput, type Environment, readArguments, withDatabase } from '../command.ts'
import { readBrandId, readOrganizationId, requireOrganization } from '../ids.ts'
import { currentOperator } from '../operator.ts'

const mostDays = 36_500

/** The configuration for a command that relays nothing. */
export function readCommandConfig(env: Environment) {
  return readConfig({ ...env, MAILROOM_ROLES: 'http' })
}

export async function runShow(args: readonly string[], env: Environment): Promise<CommandOutput> {
  readArguments(args, {})
  const settings = readCommandConfig(env)
  const { rows } = await withDatabase(env, db => loadRetentionPolicies(db, settings))
  return {
    json: rows,
    text: rows
      .map(({ scope, kind, days }) => `${scope.padEnd(30)}  ${kind.padEnd(12)}  ${describeDays(days)}`)
      .join('\n'),
  }
}

export function describeDays(days: RetentionDays): string {
  if (days === null) return 'for ever'
  return days === 1 ? '1 day' : `${days} days`
}

export async function runSet(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const { words, options } = readArguments(args, { words: ['KIND', 'DAYS'], options: ['org', 'brand'] })
  const [kind = '', text = ''] = words
  if (!isRetentionKind(kind))
    throw new UsageError(`"${kind}" is not a kind; there are ${retentionKindNames.join(', ')}`)
  const settings = readCommandConfig(env)
  const days = readDays(text, minimumDays(kind, settings))
  const scope = readScope(options)
  const operator = currentOperator(env)
  await withDatabase(env, async db => {
    if (options['org'] !== undefined) await requireOrganization(db, readOrganizationId(options['org']))
    const brand = options['brand']
    if (brand !== undefined && !(await selectBrandOrganization(db, brand)))
      throw new CommandError(`There is no brand ${brand}.`)
    await inTransaction(db, async tx => {
      await setRetentionPolicy({ db: tx, clock: operator.clock }, scope, kind, days)
      await recordAuditEntry(tx, operator, { action: 'retention.set', subject: scope, detail: { kind, days } })
    })
  })
  const shown = days === 'inherit' ? 'as long as what it belongs to says' : describeDays(days)
  return { json: { scope, kind, days }, text: `${scope}: ${kind} is kept ${shown}.` }
}

function readScope({ org, brand }: Readonly<Record<string, string | undefined>>): PolicyScope {
  if (org !== undefined && brand !== undefined)
    throw new UsageError('--org and --brand exclude each other: a brand belongs to one organization')
  if (brand !== undefined) return readBrandId(brand)
  return org === undefined ? 'instance' : readOrganizationId(org)
}

function readDays(text: string, least: number): RetentionDays | 'inherit' {
  if (text === 'inherit') return text
  if (text === 'forever') return null
  const days = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (days >= least && days <= mostDays) return days
  throw new UsageError(`"${text}" is neither forever, inherit nor a number of days from ${least} to ${mostDays}`)
}
