import { createReadStream } from 'node:fs'
import { selectBrands } from '../../accounts/brands/table.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { CommandError } from '../../base/operator-error.ts'
import type { SuppressionImportContext } from '../../sending/suppressions/files/import.ts'
import { importContext, importLines } from '../../sending/suppressions/files/import-lines.ts'
import {
  csvEntries,
  jsonEntries,
  SuppressionFileError,
  type SuppressionFileLine,
} from '../../sending/suppressions/files/read-file.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { openProgressLine } from '../progress-line.ts'
import { requireOrganization } from '../require-organization.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import { brandId, choice, dryRun, organizationId } from '../values.ts'

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
    const progress = openProgressLine('lines')
    const onProgress = (lines: number) => progress.report(lines)
    const { added, unchanged, bad, badLines } = await withDatabase(env, async db => {
      const context = await readContext(db, org, brand)
      return importLines(db, readFile(file, format), context, currentOperator(env), { isDry: isDryRun, onProgress })
    })
      .catch((error: unknown) => {
        throw error instanceof SuppressionFileError ? new CommandError(error.message) : error
      })
      .finally(() => progress.end())
    const reported = badLines.map(({ line, reason }) => ({ line, reason: sanitizeForTerminal(reason) }))
    return {
      json: { dry_run: isDryRun, added, unchanged, bad, bad_lines: reported },
      text: [
        ...reported.map(({ line, reason }) => `line ${line}: ${reason}`),
        ...(bad > reported.length ? [`…and ${bad - reported.length} more lines`] : []),
        `${isDryRun ? 'Would add' : 'Added'} ${added}; ${unchanged} were there already; ${bad} could not be read.`,
      ].join('\n'),
      ...(bad > 0 && { status: 1 }),
    }
  },
})

/** @throws CommandError when there is no such organization or brand */
async function readContext(
  db: Db,
  organizationId: Id<'org'>,
  brandId: Id<'brd'> | undefined,
): Promise<SuppressionImportContext> {
  await requireOrganization(db, organizationId)
  const brands = await selectBrands(db, organizationId, null)
  if (brandId !== undefined && !brands.some(brand => brand.id === brandId))
    throw new CommandError(`The organization has no brand ${brandId}.`)
  return importContext(organizationId, brands, brandId)
}

function formatOf(file: string): FileFormat {
  return /\.(ndjson|jsonl)$/.test(file) ? 'ndjson' : 'csv'
}

function readFile(file: string, format: FileFormat): AsyncIterable<SuppressionFileLine> {
  const input = file === '-' ? process.stdin : createReadStream(file)
  return format === 'csv' ? csvEntries(input) : jsonEntries(input)
}
