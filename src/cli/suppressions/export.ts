import { recordDeed } from '../../accounts/audit/audit.ts'
import { findBrand } from '../../accounts/brands/brands.ts'
import { systemClock } from '../../base/clock.ts'
import { CommandTrouble } from '../../base/operator-error.ts'
import { exportSuppressions } from '../../sending/suppressions/export.ts'
import { type Entry, entryFields } from '../../sending/suppressions/import.ts'
import { type Environment, onDatabase, readArgs, type Told } from '../command.ts'
import { readBrand, readOrganization, requireOrganization } from '../ids.ts'
import { theOperator } from '../operator.ts'
import { newProgress } from '../progress.ts'
import { openSink } from '../sink.ts'
import { readOneOf } from '../values.ts'

const reasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const

/** Null: it has written all to standard output. */
export async function exportFile(args: readonly string[], env: Environment): Promise<Told | null> {
  const { options } = readArgs(args, { options: ['org', 'brand', 'reason', 'format', 'output'] })
  const { output, reason } = options
  const organizationId = readOrganization(options['org'])
  const brandId = options['brand'] === undefined ? null : readBrand(options['brand'])
  const format = readOneOf(['csv', 'ndjson'], options['format'] ?? 'csv', 'format')
  const filter = {
    organizationId,
    brandId,
    reason: reason === undefined ? null : readOneOf(reasons, reason, 'reason'),
  }
  let count = 0
  const progress = newProgress('suppressions')
  await onDatabase(env, async db => {
    await requireOrganization(db, organizationId)
    if (brandId !== null && (await findBrand(db, brandId))?.organization_id !== organizationId)
      throw new CommandTrouble(`The organization has no brand ${brandId}.`)
    await recordDeed(db, theOperator(env), { action: 'suppressions.export', subject: organizationId, detail: filter })
    const sink = openSink(output)
    if (format === 'csv') await sink.write(`${entryFields.join(',')}\r\n`)
    for await (const entries of exportSuppressions(db, filter, systemClock.now())) {
      await sink.write(entries.map(format === 'csv' ? csvLine : jsonLine).join(''))
      count += entries.length
      progress.at(count)
    }
    await sink.end()
  }).finally(() => progress.end())
  return output === undefined
    ? null
    : { json: { file: output, count }, text: `Wrote ${count} suppressions to ${output}.` }
}

/** RFC 4180. */
function csvLine(entry: Entry): string {
  const cells = entryFields.map(name => {
    const text = entry[name] ?? ''
    return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${cells.join(',')}\r\n`
}

function jsonLine(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`
}
