import { recordAuditEntry } from '../../accounts/audit/audit.ts'
import { findBrand } from '../../accounts/brands/brands.ts'
import { systemClock } from '../../base/clock.ts'
import { CommandError } from '../../base/operator-error.ts'
import { suppressionCsvHeader, suppressionCsvLine } from '../../sending/suppressions/files/csv.ts'
import { exportSuppressions } from '../../sending/suppressions/files/export.ts'
import type { SuppressionEntry } from '../../sending/suppressions/files/import.ts'
import { defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { openExportOutput } from '../export-output.ts'
import { openProgressLine } from '../progress-line.ts'
import { requireOrganization } from '../require-organization.ts'
import { brandId, choice, organizationId } from '../values.ts'

const reasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const

export const exportList = defineCommand({
  name: 'suppressions export',
  summary: 'Write the suppression list of an organization as CSV or NDJSON',
  details: 'The newest comes first. suppressions import reads what this command writes.',
  options: {
    org: { ...organizationId, description: 'the organization', required: true },
    brand: { ...brandId, description: 'only the list of this brand' },
    reason: { ...choice(reasons), description: 'only those with this reason' },
    format: { ...choice(['csv', 'ndjson']), description: 'the format', default: 'csv' },
    output: { placeholder: 'FILE', description: 'write to this new file instead of standard output' },
  },
  async run({ org, brand, reason, format, output }, { env }) {
    const filter = { organizationId: org, brandId: brand ?? null, reason: reason ?? null }
    let count = 0
    const progress = openProgressLine('suppressions')
    await withDatabase(env, async db => {
      await requireOrganization(db, org)
      if (brand !== undefined && (await findBrand(db, brand))?.organization_id !== org)
        throw new CommandError(`The organization has no brand ${brand}.`)
      const entry = { action: 'suppressions.export', subject: org, detail: filter }
      await recordAuditEntry(db, currentOperator(env), entry)
      const file = openExportOutput(output)
      if (format === 'csv') await file.write(suppressionCsvHeader)
      for await (const entries of exportSuppressions(db, filter, systemClock.now())) {
        await file.write(entries.map(format === 'csv' ? suppressionCsvLine : jsonLine).join(''))
        count += entries.length
        progress.report(count)
      }
      await file.end()
    }).finally(() => progress.end())
    if (output === undefined) return null
    return { json: { file: output, count }, text: `Wrote ${count} suppressions to ${output}.` }
  },
})

function jsonLine(entry: SuppressionEntry): string {
  return `${JSON.stringify(entry)}\n`
}
