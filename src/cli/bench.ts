import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureAccept } from './bench/accept.ts'
import { measureBackup } from './bench/backup.ts'
import { openBenchEnvironment } from './bench/environment.ts'
import { describeFigure, type Figure } from './bench/figure.ts'
import { measureIngest } from './bench/ingest.ts'
import { measureListAndSearch, type PageKind } from './bench/list-and-search.ts'
import { stopBenchProcesses } from './bench/processes.ts'
import { measureRelay } from './bench/relay.ts'
import { defineCommand } from './command.ts'
import { untilShutdownSignal } from './signals.ts'
import { choice } from './values.ts'

const measurements = { ingest: measureIngest, accept: measureAccept, relay: measureRelay, backup: measureBackup }
const pageKinds: readonly PageKind[] = ['list', 'search']
const names = [...(Object.keys(measurements) as (keyof typeof measurements)[]), ...pageKinds]

export const benchCommand = defineCommand({
  name: 'bench',
  summary: 'Measure how fast this machine receives, sends, lists and searches',
  details: `Measures with a private MariaDB (binary log on, synced at each commit) and a private clamd (with ClamAV's database
where freshclam has fetched it, else with one signature), all on loopback:

  ingest   5 KB and 87 KB messages, signed, over 20 connections, through all checks to a committed row
  accept   POST /v1/emails over 32 connections
  relay    5,000 queued emails relayed to an SMTP sink
  backup   emails accepted while 100,000 messages are backed up; its time and size, and the time of a trial restore
  list     pages of the inbox, with 100,000 and with 500,000 messages stored
  search   searches, with as many

Each is a rate, and a share of a raw limit that the same run measures: for list and search, the rate of the same request with
10,000 messages stored. Takes about half an hour, most of it to fill the database.`,
  options: { only: { ...choice(names), description: 'run only this measurement' } },
  async run({ only }) {
    const shutdown = untilShutdownSignal()
    const folder = mkdtempSync(join(tmpdir(), 'mailroom-bench-'))
    const environment = await openBenchEnvironment(folder)
    const figures: Figure[] = []
    const isWanted = (name: string) => only === undefined || only === name
    const measureAll = async () => {
      for (const [name, measure] of Object.entries(measurements).filter(([name]) => isWanted(name))) {
        process.stderr.write(`measuring ${name} …\n`)
        figures.push(...(await measure(environment)))
      }
      const pages = pageKinds.filter(isWanted)
      if (pages.length === 0) return
      process.stderr.write(`measuring ${pages.join(' and ')} …\n`)
      figures.push(...(await measureListAndSearch(environment, pages)))
    }
    try {
      await Promise.race([measureAll(), shutdown])
    } finally {
      await stopBenchProcesses()
      await environment.close()
      rmSync(folder, { recursive: true, force: true })
    }
    return { text: figures.map(describeFigure).join('\n'), json: figures }
  },
})
