import { recordAuditEntry } from '../../accounts/audit/audit.ts'
import { findBrand } from '../../accounts/brands/brands.ts'
import { systemClock } from '../../base/clock.ts'
import { CommandError } from '../../base/operator-error.ts'
import { exportSuppressions } from '../../sending/suppressions/export.ts'
import { type SuppressionEntry, suppressionEntryFields } from '../../sending/suppressions/import.ts'
import { type CommandOutput, type Environment, readArguments, withDatabase } from '../command.ts'
import { openExportOutput } from '../export-output.ts'
import { readBrandId, readOrganizationId, requireOrganization } from '../ids.ts'
import { currentOperator } from '../operator.ts'
import { readOneOf } from '../option-values.ts'
import { openProgressLine } from '../progress-line.ts'

const reasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const

/** Null: it has written all to standard output. */
export async function runExport(args: readonly string[], env: Environment): Promise<CommandOutput | null> {
  const { options } = readArguments(args, { options: ['org', 'brand', 'reason', 'format', 'output'] })
  const { output, reason } = options
  const organizationId = readOrganizationId(options['org'])
  const brandId = options['brand'] === undefined ? null : readBrandId(options['brand'])
  const format = readOneOf(['csv', 'ndjson'], options['format'] ?? 'csv', 'format')
  const filter = {
    organizationId,
    brandId,
    reason: reason === undefined ? null : readOneOf(reasons, reason, 'reason'),
  }
  let count = 0
  const progress = openProgressLine('suppressions')
  await withDatabase(env, async db => {
    await requireOrganization(db, organizationId)
    if (brandId !== null && (await findBrand(db, brandId))?.organization_id !== organizationId)
      throw new CommandError(`The organization has no brand ${brandId}.`)
    await recordAuditEntry(db, currentOperator(env), {
      action: 'suppressions.export',
      subject: organizationId,
      detail: filter,
    })
    const sink = openExportOutput(output)
    if (format === 'csv') await sink.write(`${suppressionEntryFields.join(',')}\r\n`)
    for await (const entries of exportSuppressions(db, filter, systemClock.now())) {
      await sink.write(entries.map(format === 'csv' ? csvLine : jsonLine).join(''))
      count += entries.length
      progress.report(count)
    }
    await sink.end()
  }).finally(() => progress.end())
  return output === undefined
    ? null
    : { json: { file: output, count }, text: `Wrote ${count} suppressions to ${output}.` }
}

/** RFC 4180. */
function csvLine(entry: SuppressionEntry): string {
  const cells = suppressionEntryFields.map(name => {
    const text = entry[name] ?? ''
    return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${cells.join(',')}\r\n`
}

function jsonLine(entry: SuppressionEntry): string {
  return `${JSON.stringify(entry)}\n`
}
