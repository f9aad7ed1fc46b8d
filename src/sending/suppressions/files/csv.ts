import { csvLine, formulaSafe } from '../../../base/csv.ts'
import { type SuppressionEntry, suppressionEntryFields } from './import.ts'

/** The first line of a CSV file of suppressions, which names the fields. */
export const suppressionCsvHeader = csvLine(suppressionEntryFields)

/** The line of an entry in a CSV file. What another server wrote is no formula for a spreadsheet. */
export function suppressionCsvLine(entry: SuppressionEntry): string {
  return csvLine(
    suppressionEntryFields.map(name => (name === 'evidence' ? formulaSafe(entry[name] ?? '') : (entry[name] ?? ''))),
  )
}
