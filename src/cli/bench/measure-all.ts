import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureAccept } from './accept.ts'
import { measureBackup } from './backup.ts'
import { openBenchEnvironment } from './environment.ts'
import type { Figure } from './figure.ts'
import { measureIngest } from './ingest.ts'
import { measureLatencyUnderMail } from './latency-under-mail.ts'
import { measureListAndSearch, type PageKind } from './list-and-search.ts'
import { stopBenchProcesses } from './processes.ts'
import { measureRelay } from './relay.ts'
import { measureTwoProcesses } from './two-processes.ts'

const measurements = {
  ingest: measureIngest,
  latency: measureLatencyUnderMail,
  cores: measureTwoProcesses,
  accept: measureAccept,
  relay: measureRelay,
  backup: measureBackup,
}
const pageKinds: readonly PageKind[] = ['list', 'search']

export type MeasurementName = keyof typeof measurements | PageKind

/** Measures each in turn, on servers of its own that end with it; undefined: all. Ends early when `shutdown` resolves. */
export async function measureAll(
  only: MeasurementName | undefined,
  shutdown: Promise<unknown>,
): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-bench-'))
  const environment = await openBenchEnvironment(folder)
  const figures: Figure[] = []
  const isWanted = (name: string) => only === undefined || only === name
  const measure = async () => {
    for (const [name, measureOne] of Object.entries(measurements).filter(([name]) => isWanted(name))) {
      process.stderr.write(`measuring ${name} …\n`)
      figures.push(...(await measureOne(environment)))
    }
    const pages = pageKinds.filter(isWanted)
    if (pages.length === 0) return
    process.stderr.write(`measuring ${pages.join(' and ')} …\n`)
    figures.push(...(await measureListAndSearch(environment, pages)))
  }
  try {
    await Promise.race([measure(), shutdown])
  } finally {
    await stopBenchProcesses()
    await environment.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return figures
}
