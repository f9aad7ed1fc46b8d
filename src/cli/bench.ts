import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../base/operator-error.ts'
import { measureAccept } from './bench/accept.ts'
import { measureBackup } from './bench/backup.ts'
import { openBenchEnvironment } from './bench/environment.ts'
import { describeFigure, type Figure } from './bench/figure.ts'
import { measureIngest } from './bench/ingest.ts'
import { measureListAndSearch, type PageKind } from './bench/list-and-search.ts'
import { measureRelay } from './bench/relay.ts'
import { type Command, readArguments } from './command.ts'
import { untilShutdownSignal } from './signals.ts'

const measurements = { ingest: measureIngest, accept: measureAccept, relay: measureRelay, backup: measureBackup }
const stored: readonly PageKind[] = ['list', 'search']

export const benchCommand: Command = {
  usage: `./mailroom bench [--only ingest|accept|relay|backup|list|search] [--json]

Measures this machine, with a MariaDB (binary log on, synced at each commit) and a clamd of its own (with ClamAV's
database where freshclam has fetched it, else with one signature), all on loopback:
  ingest   5 KB and 87 KB messages, signed, over 20 connections, through all checks to a committed row
  accept   POST /v1/emails over 32 connections
  relay    5,000 queued emails drained to an SMTP sink
  backup   emails accepted while 100,000 messages are backed up; its time, its size, and the time of a trial restore
  list     pages of the inbox, with 100,000 and with 500,000 messages in the store
  search   searches, with as many
Each is a rate, and its part of a raw limit that the same run measures: for the last two, of the same with 10,000
messages beside it. Takes about ten minutes, most of them to fill the store.`,

  async run(args) {
    const { only } = readArguments(args, { options: ['only'] }).options
    const isKnown = [...Object.keys(measurements), ...stored].some(name => only === undefined || name === only)
    if (!isKnown) throw new UsageError(`"${only}" is not a measurement`)
    const told = untilShutdownSignal()
    const folder = mkdtempSync(join(tmpdir(), 'mailroom-bench-'))
    const ground = await openBenchEnvironment(folder)
    const figures: Figure[] = []
    const isAsked = (name: string) => only === undefined || only === name
    const measureAll = async () => {
      for (const [name, measure] of Object.entries(measurements).filter(([each]) => isAsked(each))) {
        process.stderr.write(`measuring ${name} …\n`)
        figures.push(...(await measure(ground)))
      }
      const pages = stored.filter(isAsked)
      if (pages.length === 0) return
      process.stderr.write(`measuring ${pages.join(' and ')} …\n`)
      figures.push(...(await measureListAndSearch(ground, pages)))
    }
    try {
      await Promise.race([measureAll(), told])
    } finally {
      await ground.close()
      rmSync(folder, { recursive: true, force: true })
    }
    return { text: figures.map(describeFigure).join('\n'), json: figures }
  },
}
