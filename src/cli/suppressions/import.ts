import { createReadStream } from 'node:fs'
import { selectBrands } from '../../accounts/brands/table.ts'
import { systemClock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { CommandError } from '../../base/operator-error.ts'
import {
  InvalidEntryError,
  importEntries,
  readEntry,
  type SuppressionImportContext,
} from '../../sending/suppressions/import.ts'
import type { NewSuppression } from '../../sending/suppressions/suppress.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { openProgressLine } from '../progress-line.ts'
import { requireOrganization } from '../require-organization.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import { brandId, choice, dryRun, organizationId } from '../values.ts'
import { csvEntries, jsonEntries, type SuppressionFileLine } from './read-file.ts'

const batchSize = 200
/** The most bad lines that are reported one by one. */
const maxReportedLines = 1000

type FileFormat = 'csv' | 'ndjson'

export const importFile = defineCommand({
  name: 'suppressions import',
  summary: 'Add the addresses of a CSV or NDJSON file to the suppression list',
  details: `The first line of a CSV file names the fields, in any order; each line of an NDJSON file is an object with them:

  email                     the address; the only required field
  reason                    hard_bounce, complaint, unsubscribe or manual (default: manual)
  brand                     id or slug of the brand (default: --brand, or the only brand of the organization)
  created_at, expires_at, unsubscribed_at
                            times such as 2027-01-31T08:00:00Z
  evidence                  a reply or report, for people

Other fields are ignored. Lines that cannot be read are reported with their numbers; the others are imported, and the exit
status is 1. An address that is on the list already stays as it is there: the same file can be imported again.`,
  arguments: { file: { placeholder: 'FILE', description: 'the file; -: standard input' } },
  options: {
    org: { ...organizationId, description: 'the organization', required: true },
    brand: { ...brandId, description: 'the brand of entries that name none' },
    format: {
      ...choice(['csv', 'ndjson']),
      description: 'without it ndjson for files that end in .ndjson or .jsonl, else csv',
    },
    'dry-run': dryRun,
  },
  async run({ file, org, brand, format = formatOf(file), 'dry-run': isDryRun }, { env }) {
    const operator = currentOperator(env)
    const tally = { added: 0, unchanged: 0, bad: 0 }
    const badLines: { line: number; reason: string }[] = []
    const progress = openProgressLine('lines')
    await withDatabase(env, async db => {
      const context = await importContext(db, org, brand)
      let batch: (readonly NewSuppression[])[] = []
      const flush = async () => {
        if (batch.length === 0) return
        const { added, unchanged } = await importEntries(db, batch, context, operator, isDryRun)
        tally.added += added
        tally.unchanged += unchanged
        batch = []
        progress.report(tally.added + tally.unchanged + tally.bad)
      }
      for await (const line of readFile(file, format)) {
        const read = readSuppressions(line, context)
        if (typeof read === 'string') {
          tally.bad++
          if (badLines.length < maxReportedLines) badLines.push({ line: line.line, reason: sanitizeForTerminal(read) })
        } else if (batch.push(read) >= batchSize) await flush()
      }
      await flush()
    }).finally(() => progress.end())
    const { added, unchanged, bad } = tally
    return {
      json: { dry_run: isDryRun, ...tally, bad_lines: badLines },
      text: [
        ...badLines.map(({ line, reason }) => `line ${line}: ${reason}`),
        ...(bad > badLines.length ? [`…and ${bad - badLines.length} more lines`] : []),
        `${isDryRun ? 'Would add' : 'Added'} ${added}; ${unchanged} were there already; ${bad} could not be read.`,
      ].join('\n'),
      ...(bad > 0 && { status: 1 }),
    }
  },
})

/** The suppressions of a line; a text: why it cannot be read. */
function readSuppressions(
  line: SuppressionFileLine,
  context: SuppressionImportContext,
): readonly NewSuppression[] | string {
  if ('error' in line) return line.error
  try {
    return readEntry(line.entry, context, systemClock.now())
  } catch (error) {
    if (error instanceof InvalidEntryError) return error.message
    throw error
  }
}

/** @throws CommandError when there is no such organization or brand */
async function importContext(
  db: Db,
  organizationId: Id<'org'>,
  brandId: Id<'brd'> | undefined,
): Promise<SuppressionImportContext> {
  await requireOrganization(db, organizationId)
  const brands = await selectBrands(db, organizationId, null)
  if (brandId !== undefined && !brands.some(brand => brand.id === brandId))
    throw new CommandError(`The organization has no brand ${brandId}.`)
  const onlyBrandId = brands.length === 1 ? brands[0]?.id : undefined
  return { organizationId, brands, brandId: brandId ?? onlyBrandId }
}

function formatOf(file: string): FileFormat {
  return /\.(ndjson|jsonl)$/.test(file) ? 'ndjson' : 'csv'
}

function readFile(file: string, format: FileFormat): AsyncIterable<SuppressionFileLine> {
  const input = file === '-' ? process.stdin : createReadStream(file)
  return format === 'csv' ? csvEntries(input) : jsonEntries(input)
}
