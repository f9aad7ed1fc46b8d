import { createReadStream } from 'node:fs'
import { selectBrands } from '../../accounts/brands/table.ts'
import { systemClock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { CommandError } from '../../base/operator-error.ts'
import {
  InvalidEntryError,
  importEntries,
  readEntry,
  type SuppressionImportContext,
} from '../../sending/suppressions/import.ts'
import type { NewSuppression } from '../../sending/suppressions/suppress.ts'
import { type CommandOutput, type Environment, type ParsedArguments, readArguments, withDatabase } from '../command.ts'
import { readBrandId, readOrganizationId, requireOrganization } from '../ids.ts'
import { currentOperator } from '../operator.ts'
import { readOneOf } from '../option-values.ts'
import { openProgressLine } from '../progress-line.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import { csvEntries, jsonEntries } from './read-file.ts'

const atOnce = 200
/** Bad lines that are told one by one. */
const maxTold = 1000

export async function runImport(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const called = readArguments(args, { words: ['FILE'], options: ['org', 'brand', 'format'], flags: ['dry-run'] })
  const isDry = called.flags.has('dry-run')
  const operator = currentOperator(env)
  const tally = { added: 0, unchanged: 0, bad: 0 }
  const bad: { line: number; reason: string }[] = []
  const progress = openProgressLine('lines')
  await withDatabase(env, async db => {
    const ground = await importTargetOf(db, called)
    let waiting: (readonly NewSuppression[])[] = []
    const take = async () => {
      if (waiting.length === 0) return
      const { added, unchanged } = await importEntries(db, waiting, ground, operator, isDry)
      tally.added += added
      tally.unchanged += unchanged
      waiting = []
      progress.report(tally.added + tally.unchanged + tally.bad)
    }
    for await (const entry of entriesOf(called)) {
      const read =
        'trouble' in entry ? entry.trouble : readLine(() => readEntry(entry.entry, ground, systemClock.now()))
      if (typeof read === 'string') {
        tally.bad++
        if (bad.length < maxTold) bad.push({ line: entry.line, reason: sanitizeForTerminal(read) })
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
    if (error instanceof InvalidEntryError) return error.message
    throw error
  }
}

async function importTargetOf(db: Db, { options }: ParsedArguments): Promise<SuppressionImportContext> {
  const organizationId = readOrganizationId(options['org'])
  await requireOrganization(db, organizationId)
  const brands = await selectBrands(db, organizationId, null)
  const brandId = options['brand'] === undefined ? undefined : readBrandId(options['brand'])
  if (brandId !== undefined && !brands.some(brand => brand.id === brandId))
    throw new CommandError(`The organization has no brand ${brandId}.`)
  const only = brands.length === 1 ? brands[0]?.id : undefined
  return { organizationId, brands, brandId: brandId ?? only }
}

function entriesOf({ words: [file = ''], options }: ParsedArguments) {
  const input = file === '-' ? process.stdin : createReadStream(file)
  const usual = /\.(ndjson|jsonl)$/.test(file) ? 'ndjson' : 'csv'
  const format = readOneOf(['csv', 'ndjson'], options['format'] ?? usual, 'format')
  return format === 'csv' ? csvEntries(input) : jsonEntries(input)
}
