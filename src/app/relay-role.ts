import { signingKeyFinder } from '../domains/dkim/keys.ts'
import { selectVerifiedReturnPaths } from '../domains/return-path-table.ts'
import { canonicalDomain } from '../mail/address.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import { startRelay } from '../sending/relay/relay.ts'
import type { AppContext } from './app-context.ts'
import { startJobs } from './jobs/job.ts'
import { jobs } from './jobs/jobs.ts'

/** Starts what submits emails to the provider. Gives the function that tells the relay that an email may be due. */
export function startRelayRole(context: AppContext): () => void {
  const { config, log, clock, secrets, provider, bounces, onDrain } = context
  const db = context.openPool('relay')
  const relay = startRelay({
    db,
    blobs: mysqlBlobs(db, clock),
    provider,
    signingKeys: signingKeyFinder(secrets),
    reversePaths: {
      returnPaths: bounces.returnPaths,
      findHosts: selectVerifiedReturnPaths,
      ownHost: canonicalDomain(config.hostname),
    },
    clock,
    log,
    attemptMs: config.relayAttemptSeconds * 1000,
    retryFirstMs: config.retryFirstSeconds * 1000,
  })
  onDrain(() => relay.stop())
  context.relayStatus.findOpenBreaker = () => relay.openBreaker()
  startJobs(jobs.relay, context)
  return () => relay.wake()
}
