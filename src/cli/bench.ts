import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureAccept } from './bench/accept.ts'
import { describeFigure, type Figure } from './bench/figure.ts'
import { openGround } from './bench/ground.ts'
import { measureIngest } from './bench/ingest.ts'
import { measureRelay } from './bench/relay.ts'
import { type Command, readArgs } from './command.ts'
import { untilToldToEnd } from './signals.ts'
import { UsageTrouble } from './trouble.ts'

const measurements = { ingest: measureIngest, accept: measureAccept, relay: measureRelay }

export const bench: Command = {
  usage: `./mailroom bench [--only ingest|accept|relay] [--json]

Measures this machine, with a MariaDB (binary log on, synced at each commit) and a clamd of its own, all on loopback:
  ingest   5 KB and 87 KB messages, signed, over 20 connections, through all checks to a committed row
  accept   POST /v1/emails over 32 connections
  relay    5,000 queued emails drained to an SMTP sink
Each is a rate, and its part of a raw limit that the same run measures. Takes about two minutes.`,

  async run(args) {
    const { only } = readArgs(args, { options: ['only'] }).options
    if (only !== undefined && !(only in measurements)) throw new UsageTrouble(`"${only}" is not a measurement`)
    const told = untilToldToEnd()
    const folder = mkdtempSync(join(tmpdir(), 'mailroom-bench-'))
    const ground = await openGround(folder)
    const figures: Figure[] = []
    const measureAll = async () => {
      for (const [name, measure] of Object.entries(measurements)) {
        if (only !== undefined && only !== name) continue
        process.stderr.write(`measuring ${name} …\n`)
        figures.push(...(await measure(ground)))
      }
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
