import { secondMs } from '../../base/clock.ts'
import type { JobRound } from '../../base/concurrency/background-job.ts'
import { mysqlBlobs } from '../../ports/blobs/mysql.ts'
import { acmeIntervalMs } from '../../ports/certificates/acme/acme.ts'
import { rescanRound } from '../../receiving/rescan/rescan.ts'
import type { AppContext } from '../app-context.ts'
import type { Job } from './job.ts'

/** The jobs of a process with a listening port that speaks TLS. */
export const certificateJobs: readonly Job<AppContext>[] = [
  {
    name: 'acme-load',
    intervalMs: acmeIntervalMs,
    does: 'loads the certificates that were issued by ACME',
    startedBy: 'acmeCertificates',
  },
  {
    name: 'acme-order',
    intervalMs: acmeIntervalMs,
    does: 'orders and renews certificates by ACME',
    startedBy: 'acmeCertificates',
  },
]

/** The jobs of the role `smtp`. */
export const smtpJobs: readonly Job<AppContext>[] = [
  {
    name: 'rescan',
    intervalMs: 5 * secondMs,
    does: 'scans messages that could not be scanned when they came',
    open: openRescan,
  },
]

function openRescan({ config, db, clock, log, scanner, resolver, bounces }: AppContext): JobRound {
  const { scanAttachments } = config
  const { hostname } = bounces
  const deps = { db, blobs: mysqlBlobs(db, clock), scanner, scanAttachments, resolver, hostname, clock, log }
  return signal => rescanRound(deps, signal)
}
