import { readConfig } from '../../src/base/config/config.ts'
import { httpDrainTimes } from '../../src/servers/http/requests-under-way.ts'
import { sessionLimits } from '../../src/servers/smtp/session-limits.ts'

/** Time to write the outcomes of the last submissions and to close the database. */
const closingMs = 15_000

/** How long a shutdown with the default settings may take, in milliseconds: its roles finish their work at the same time. */
export function longestShutdownMs(): number {
  const config = readConfig({ MAILROOM_PROVIDER: 'sandbox' })
  const { dataGraceMs, drainMs } = sessionLimits(config)
  const receivingMs = dataGraceMs + 2 * drainMs
  return Math.max(receivingMs, httpDrainTimes.longestMs, config.relayAttemptSeconds * 1000) + closingMs
}
