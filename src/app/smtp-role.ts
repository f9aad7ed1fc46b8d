import { join } from 'node:path'
import { mailauthAuthenticator } from '../ports/authenticator/mailauth.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import type { Certificates } from '../ports/certificates/port.ts'
import { whileThereIsRoom } from '../receiving/disk-guard.ts'
import { bySize, openParsePool } from '../receiving/parse-pool/parse-pool.ts'
import { reportTaker } from '../receiving/reports/record-report.ts'
import { startRescanning } from '../receiving/rescan/rescan.ts'
import { openWayIn } from '../receiving/way-in.ts'
import { openSmtpServer } from '../servers/smtp/server.ts'
import type { AppContext } from './app-context.ts'

const parseThreads = 1

/** Starts what takes mail from the world; gives where it listens. */
export async function startSmtpRole(shared: AppContext, certificates: Certificates): Promise<string> {
  const { config, log, clock, resolver, canary, scanner, bounces, onStop } = shared
  const db = shared.openPool('smtp')
  const checking = { resolver, hostname: config.hostname, messageTimeoutMs: config.dnsMessageSeconds * 1000 }
  const heavy = openParsePool({ ...checking, count: parseThreads })
  onStop(() => heavy.close())
  const wayIn = openWayIn({
    db,
    blobs: mysqlBlobs(db, clock),
    ...bySize(mailauthAuthenticator(checking), heavy),
    canary,
    scanner,
    scanWaitMs: config.scanWaitSeconds * 1000,
    policy: { dmarcReject: config.dmarcReject, unscanned: config.unscanned },
    postmaster: config.postmaster,
    bounces,
    resolver,
    log,
  })
  const rescanning = startRescanning({
    db: shared.db,
    blobs: mysqlBlobs(shared.db, clock),
    scanner,
    takeReport: reportTaker({ db: shared.db, log, resolver }),
    clock,
    log,
  })
  onStop(() => rescanning.stop())
  const spoolFolder = join(config.varFolder, 'spool')
  const door = await openSmtpServer({
    config,
    inbound: whileThereIsRoom(wayIn, shared.hasDiskSpace),
    certificates,
    log,
    clock,
    spoolFolder,
  })
  onStop(() => door.close())
  return `${door.address.host}:${door.address.port}`
}
