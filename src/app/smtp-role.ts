import { join } from 'node:path'
import { mailauthAuthenticator } from '../ports/authenticator/mailauth.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import type { Certificates } from '../ports/certificates/port.ts'
import { whileThereIsRoom } from '../receiving/disk-guard.ts'
import { bySize, openParsePool } from '../receiving/parse-pool/parse-pool.ts'
import { openWayIn } from '../receiving/way-in.ts'
import { openSmtpServer } from '../servers/smtp/server.ts'
import type { AppContext } from './app-context.ts'
import { jobs, startJobs } from './jobs.ts'

const parseThreads = 1

/** Starts what receives mail by SMTP; gives the address on which it listens. */
export async function startSmtpRole(context: AppContext, certificates: Certificates): Promise<string> {
  const { config, log, clock, resolver, canary, scanner, bounces, diskSpace, onStop } = context
  const db = context.openPool('smtp')
  const checking = { resolver, hostname: config.hostname, messageTimeoutMs: config.dnsMessageSeconds * 1000 }
  const parsePool = openParsePool({ ...checking, count: parseThreads })
  onStop(() => parsePool.close())
  const wayIn = openWayIn({
    db,
    blobs: mysqlBlobs(db, clock),
    ...bySize(mailauthAuthenticator(checking), parsePool),
    canary,
    scanner,
    scanWaitMs: config.scanWaitSeconds * 1000,
    policy: { dmarcReject: config.dmarcReject, unscanned: config.unscanned },
    postmaster: config.postmaster,
    bounces,
    resolver,
    log,
  })
  startJobs(jobs.smtp, context)
  const spoolFolder = join(config.varFolder, 'spool')
  const server = await openSmtpServer({
    config,
    inbound: whileThereIsRoom(wayIn, diskSpace.hasSpace),
    certificates,
    log,
    clock,
    spoolFolder,
  })
  onStop(() => server.close())
  return `${server.address.host}:${server.address.port}`
}
