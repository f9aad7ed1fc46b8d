import { reportTable } from './report-fixtures.ts'

// Prints how each report of test/fixtures/reports is read: bun test/harness/print-report-table.ts
process.stdout.write(`${reportTable()}\n`)
