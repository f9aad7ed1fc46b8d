import type { Operator } from '../../../accounts/audit/audit.ts'
import type { Db } from '../../../base/database/database.ts'
import type { NewSuppression } from '../suppress.ts'
import { InvalidEntryError, importEntries, readEntry, type SuppressionImportContext } from './import.ts'
import type { SuppressionFileLine } from './read-file.ts'

const batchSize = 200
/** The most bad lines that are reported one by one. */
const maxReportedLines = 1000

/** What an import did, or what it would do. */
export interface SuppressionImportReport {
  readonly added: number
  /** How many were on the list already. */
  readonly unchanged: number
  /** How many lines could not be read. */
  readonly bad: number
  /** The first of those. */
  readonly badLines: readonly { readonly line: number; readonly reason: string }[]
}

export interface SuppressionImportOptions {
  /** Only reports what it would do. */
  readonly isDry: boolean
  /** Gets the number of lines that were handled so far, after each batch. */
  readonly onProgress?: (lines: number) => void
}

/**
 * Adds the entries of a file to the lists, in batches, each a transaction with its audit entry; lines that cannot be read are
 * reported, and the others imported. After an interruption the same file can be imported again.
 */
export async function importLines(
  db: Db,
  lines: AsyncIterable<SuppressionFileLine>,
  context: SuppressionImportContext,
  operator: Operator,
  { isDry, onProgress = () => undefined }: SuppressionImportOptions,
): Promise<SuppressionImportReport> {
  const tally = { added: 0, unchanged: 0, bad: 0 }
  const badLines: { line: number; reason: string }[] = []
  let batch: (readonly NewSuppression[])[] = []
  const flush = async () => {
    if (batch.length === 0) return
    const { added, unchanged } = await importEntries(db, batch, context, operator, isDry)
    tally.added += added
    tally.unchanged += unchanged
    batch = []
    onProgress(tally.added + tally.unchanged + tally.bad)
  }
  for await (const line of lines) {
    const read = readSuppressions(line, context, operator)
    if (typeof read === 'string') {
      tally.bad++
      if (badLines.length < maxReportedLines) badLines.push({ line: line.line, reason: read })
    } else if (batch.push(read) >= batchSize) await flush()
  }
  await flush()
  return { ...tally, badLines }
}

/** The suppressions of a line; a text: why it cannot be read. */
function readSuppressions(
  line: SuppressionFileLine,
  context: SuppressionImportContext,
  { clock }: Operator,
): readonly NewSuppression[] | string {
  if ('error' in line) return line.error
  try {
    return readEntry(line.entry, context, clock.now())
  } catch (error) {
    if (error instanceof InvalidEntryError) return error.message
    throw error
  }
}

/** The brands whose lists are imported into, and that of entries which name none: `brandId`, or the only one. */
export function importContext(
  organizationId: SuppressionImportContext['organizationId'],
  brands: SuppressionImportContext['brands'],
  brandId: SuppressionImportContext['brandId'],
): SuppressionImportContext {
  const onlyBrandId = brands.length === 1 ? brands[0]?.id : undefined
  return { organizationId, brands, brandId: brandId ?? onlyBrandId }
}
