import { recordDeed } from '../../accounts/audit/audit.ts'
import { readConfig } from '../../base/config/config.ts'
import { inTransaction } from '../../base/database/database.ts'
import { CommandTrouble, UsageTrouble } from '../../base/operator-error.ts'
import { type Days, isKind, kindNames, leastDays } from '../../retention/policies/kinds.ts'
import { loadPolicies, type Scope, setPolicy } from '../../retention/policies/policies.ts'
import { selectBrandOwner } from '../../retention/policies/table.ts'
import { type Environment, onDatabase, readArgs, type Told } from '../command.ts'
import { readBrand, readOrganization, requireOrganization } from '../ids.ts'
import { theOperator } from '../operator.ts'

const mostDays = 36_500

/** The configuration for a command that relays nothing. */
export function configOf(env: Environment) {
  return readConfig({ ...env, MAILROOM_ROLES: 'http' })
}

export async function onShow(args: readonly string[], env: Environment): Promise<Told> {
  readArgs(args, {})
  const settings = configOf(env)
  const { all } = await onDatabase(env, db => loadPolicies(db, settings))
  return {
    json: all,
    text: all.map(({ scope, kind, days }) => `${scope.padEnd(30)}  ${kind.padEnd(12)}  ${said(days)}`).join('\n'),
  }
}

export function said(days: Days): string {
  if (days === null) return 'for ever'
  return days === 1 ? '1 day' : `${days} days`
}

export async function onSet(args: readonly string[], env: Environment): Promise<Told> {
  const { words, options } = readArgs(args, { words: ['KIND', 'DAYS'], options: ['org', 'brand'] })
  const [kind = '', text = ''] = words
  if (!isKind(kind)) throw new UsageTrouble(`"${kind}" is not a kind; there are ${kindNames.join(', ')}`)
  const settings = configOf(env)
  const days = readDays(text, leastDays(kind, settings))
  const scope = readScope(options)
  const operator = theOperator(env)
  await onDatabase(env, async db => {
    if (options['org'] !== undefined) await requireOrganization(db, readOrganization(options['org']))
    const brand = options['brand']
    if (brand !== undefined && !(await selectBrandOwner(db, brand)))
      throw new CommandTrouble(`There is no brand ${brand}.`)
    await inTransaction(db, async tx => {
      await setPolicy({ db: tx, clock: operator.clock }, scope, kind, days)
      await recordDeed(tx, operator, { action: 'retention.set', subject: scope, detail: { kind, days } })
    })
  })
  const shown = days === 'inherit' ? 'as long as what it belongs to says' : said(days)
  return { json: { scope, kind, days }, text: `${scope}: ${kind} is kept ${shown}.` }
}

function readScope({ org, brand }: Readonly<Record<string, string | undefined>>): Scope {
  if (org !== undefined && brand !== undefined)
    throw new UsageTrouble('--org and --brand exclude each other: a brand belongs to one organization')
  if (brand !== undefined) return readBrand(brand)
  return org === undefined ? 'instance' : readOrganization(org)
}

function readDays(text: string, least: number): Days | 'inherit' {
  if (text === 'inherit') return text
  if (text === 'forever') return null
  const days = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (days >= least && days <= mostDays) return days
  throw new UsageTrouble(`"${text}" is neither forever, inherit nor a number of days from ${least} to ${mostDays}`)
}
