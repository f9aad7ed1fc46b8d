import { createReadStream } from 'node:fs'
import { selectBrands } from '../../accounts/organizations/table.ts'
import { systemClock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { CommandTrouble } from '../../base/operator-error.ts'
import { BadEntry, type Ground, importEntries, readEntry } from '../../sending/suppressions/import.ts'
import type { SuppressionWish } from '../../sending/suppressions/suppress.ts'
import { type Called, type Environment, onDatabase, readArgs, type Told } from '../command.ts'
import { readBrand, readOrganization, requireOrganization } from '../ids.ts'
import { theOperator } from '../operator.ts'
import { newProgress } from '../progress.ts'
import { plain } from '../text.ts'
import { readOneOf } from '../values.ts'
import { csvEntries, jsonEntries } from './entries.ts'

const atOnce = 200
/** Bad lines that are told one by one. */
const maxTold = 1000

export async function importFile(args: readonly string[], env: Environment): Promise<Told> {
  const called = readArgs(args, { words: ['FILE'], options: ['org', 'brand', 'format'], flags: ['dry-run'] })
  const isDry = called.flags.has('dry-run')
  const operator = theOperator(env)
  const tally = { added: 0, unchanged: 0, bad: 0 }
  const bad: { line: number; reason: string }[] = []
  const progress = newProgress('lines')
  await onDatabase(env, async db => {
    const ground = await groundOf(db, called)
    let waiting: (readonly SuppressionWish[])[] = []
    const take = async () => {
      if (waiting.length === 0) return
      const { added, unchanged } = await importEntries(db, waiting, ground, operator, isDry)
      tally.added += added
      tally.unchanged += unchanged
      waiting = []
      progress.at(tally.added + tally.unchanged + tally.bad)
    }
    for await (const each of entriesOf(called)) {
      const read = 'trouble' in each ? each.trouble : readLine(() => readEntry(each.entry, ground, systemClock.now()))
      if (typeof read === 'string') {
        tally.bad++
        if (bad.length < maxTold) bad.push({ line: each.line, reason: plain(read) })
      } else if (waiting.push(read) >= atOnce) await take()
    }
    await take()
  }).finally(() => progress.end())
  const { added, unchanged } = tally
  return {
    json: { dry_run: isDry, ...tally, bad_lines: bad },
    text: [
      ...bad.map(each => `line ${each.line}: ${each.reason}`),
      ...(tally.bad > bad.length ? [`…and ${tally.bad - bad.length} more lines`] : []),
      `${isDry ? 'Would add' : 'Added'} ${added}; ${unchanged} were there already; ${tally.bad} could not be read.`,
    ].join('\n'),
    ...(tally.bad > 0 && { status: 1 }),
  }
}

function readLine<Value>(read: () => Value): Value | string {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadEntry) return error.message
    throw error
  }
}

async function groundOf(db: Db, { options }: Called): Promise<Ground> {
  const organizationId = readOrganization(options['org'])
  await requireOrganization(db, organizationId)
  const brands = await selectBrands(db, organizationId, null)
  const brandId = options['brand'] === undefined ? undefined : readBrand(options['brand'])
  if (brandId !== undefined && !brands.some(each => each.id === brandId))
    throw new CommandTrouble(`The organization has no brand ${brandId}.`)
  const only = brands.length === 1 ? brands[0]?.id : undefined
  return { organizationId, brands, brandId: brandId ?? only }
}

function entriesOf({ words: [file = ''], options }: Called) {
  const input = file === '-' ? process.stdin : createReadStream(file)
  const usual = /\.(ndjson|jsonl)$/.test(file) ? 'ndjson' : 'csv'
  const format = readOneOf(['csv', 'ndjson'], options['format'] ?? usual, 'format')
  return format === 'csv' ? csvEntries(input) : jsonEntries(input)
}
