import { join } from 'node:path'
import type { Config } from '../base/config/config.ts'
import { failureLog } from '../base/observability/failure-log.ts'
import { mailauthAuthenticator } from '../ports/authenticator/mailauth/mailauth.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import type { Certificates } from '../ports/certificates/port.ts'
import { MessageFiler } from '../receiving/file.ts'
import type { InboundRecipient } from '../receiving/incoming-message.ts'
import { authenticatorBySize, openParsePool } from '../receiving/parse-pool/parse-pool.ts'
import { type ReceiveDeps, receive } from '../receiving/receive.ts'
import { batchedClaimLookups, findRecipient, type RecipientDeps } from '../receiving/recipient.ts'
import { sessionRecipients } from '../receiving/session-recipients.ts'
import type { MailService } from '../servers/smtp/deps.ts'
import { openSmtpServer } from '../servers/smtp/server.ts'
import { openSpoolFolder } from '../servers/smtp/spool.ts'
import type { AppContext } from './app-context.ts'
import { startJobs } from './jobs/job.ts'
import { jobs } from './jobs/jobs.ts'

const parseThreads = 1

const unscannedMessages: Readonly<Record<Config['unscanned'], string>> = {
  quarantine: 'messages cannot be scanned: they wait in quarantine and are released once a later scan finds them clean',
  defer: 'messages cannot be scanned: they are deferred, and their senders try again later',
}

const spamFilterMessages = {
  failed: 'the spam filter does not answer: messages are filed without its check',
  recovered: 'the spam filter checks messages again',
}

/** Starts what receives mail by SMTP; gives the address on which it listens. */
export async function startSmtpRole(context: AppContext, certificates: Certificates): Promise<string> {
  const { config, log, clock, resolver, canary, scanner, spamFilter, bounces, diskSpace, onDrain, onStop } = context
  const db = context.openPool('smtp')
  const blobs = mysqlBlobs(db, clock)
  const hasDiskSpace = diskSpace.hasSpace
  const authentication = { resolver, hostname: config.hostname, messageTimeoutMs: config.dnsMessageSeconds * 1000 }
  const parsePool = openParsePool({ ...authentication, count: parseThreads })
  onStop(() => parsePool.close())
  const recipientDeps: RecipientDeps = {
    db,
    findClaims: batchedClaimLookups(db),
    hasDiskSpace,
    postmaster: config.postmaster,
    bounces,
  }
  const receiveDeps: ReceiveDeps = {
    db,
    blobs,
    log,
    resolver,
    hostname: bounces.hostname,
    hasDiskSpace,
    parsePool,
    authenticator: authenticatorBySize(mailauthAuthenticator(authentication), parsePool),
    canary,
    scanner,
    scanAttachments: config.scanAttachments,
    scanWaitMs: config.scanWaitSeconds * 1000,
    scannerFailures: failureLog(
      log,
      {},
      { failed: unscannedMessages[config.unscanned], recovered: 'messages are scanned again' },
    ),
    ...(spamFilter && { spamFilter, spamFilterFailures: failureLog(log, {}, spamFilterMessages) }),
    policy: { dmarcReject: config.dmarcReject, unscanned: config.unscanned },
    filer: new MessageFiler({ db, blobs }),
  }
  startJobs(jobs.smtp, context)
  const openService = (): MailService<InboundRecipient> => ({
    acceptedAs: 'Accepted as',
    findRecipient: sessionRecipients(address => findRecipient(address, recipientDeps)),
    receive: mail => receive(mail, receiveDeps),
  })
  const server = await openSmtpServer({
    config,
    listener: {
      kind: 'mx',
      listen: config.smtpListen,
      tls: 'starttls',
      requiresCertificate: false,
      allowsLocalLogin: false,
    },
    openService,
    certificates,
    log,
    clock,
    spoolFolder: openSpoolFolder(join(config.varFolder, 'spool')),
    sharesPort: context.share.sharesPorts,
  })
  onDrain(() => server.close())
  return `${server.address.host}:${server.address.port}`
}
