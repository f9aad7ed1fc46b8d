import { describeFigure } from './bench/figure.ts'
import type { MeasurementName } from './bench/measure-all.ts'
import { defineCommand } from './command.ts'
import { untilShutdownSignal } from './signals.ts'
import { choice } from './values.ts'

const names: readonly MeasurementName[] = ['ingest', 'latency', 'cores', 'accept', 'relay', 'backup', 'list', 'search']

export const benchCommand = defineCommand({
  name: 'bench',
  summary: 'Measure how fast this machine receives, sends, lists and searches',
  details: `Measures with a private MariaDB (binary log on, synced at each commit) and a private clamd (with ClamAV's database
where freshclam has fetched it, else with one signature), all on loopback:

  ingest   5 KB, 87 KB and 4 MB messages, signed, over reused connections, through all checks to a committed row
  latency  pages of the inbox while 4 MB messages arrive over four connections
  cores    5 KB and 87 KB messages in two processes, compared with one, with a scanner that costs nothing, and with what the
           cores could do
  accept   POST /v1/emails over 32 connections
  relay    5,000 queued emails relayed to an SMTP sink
  backup   emails accepted while 100,000 messages are backed up; its time and size, and the time of a trial restore
  list     pages of the inbox, with 100,000 and with 500,000 messages stored
  search   searches, with as many

Each is a rate, and a share of a raw limit that the same run measures: for list and search, the rate of the same request with
10,000 messages stored. Memory is that of all processes of Mailroom together (PSS). Takes about half an hour, most of it to fill the database.`,
  options: { only: { ...choice(names), description: 'run only this measurement' } },
  async run({ only }) {
    const shutdown = untilShutdownSignal()
    const { measureAll } = await import('./bench/measure-all.ts')
    const figures = await measureAll(only, shutdown)
    return { text: figures.map(describeFigure).join('\n'), json: figures }
  },
})
