import { join } from 'node:path'
import { openKeyAuthenticator } from '../accounts/keys/keys.ts'
import { openRequestLog } from '../accounts/request-log/writer.ts'
import { openIdempotencyKeys } from '../api/idempotency/idempotency-keys.ts'
import { newWeightedSemaphore } from '../base/concurrency/weighted-semaphore.ts'
import type { Endpoint } from '../base/config/config.ts'
import { MiB } from '../base/config/parsers.ts'
import type { Certificates } from '../ports/certificates/port.ts'
import type { SendDeps } from '../sending/accept/open-sending.ts'
import { maxRecipients } from '../sending/accept/recipients.ts'
import { openMessageReader } from '../sending/submission/message-reader.ts'
import { isLoopback, openSmtpServer, type SmtpListener } from '../servers/smtp/server.ts'
import { openSpoolFolder } from '../servers/smtp/spool.ts'
import { openSubmissionRecorder } from '../servers/smtp/submission/recorder.ts'
import { openSubmissionService, type SubmissionDeps } from '../servers/smtp/submission/service.ts'
import type { AppContext } from './app-context.ts'
import { openRoleSending } from './role-sending.ts'

/** The body cap of the API: a submitted message is an email to send as well. */
const maxMessageBytes = 16 * MiB
const maxMemoryBytes = 128 * MiB

export interface SubmissionRoleDeps {
  readonly certificates: Certificates
  readonly wakeRelay: () => void
  /** That of the HTTP role of this process; undefined: it has none, and this role opens its own. */
  readonly sending: SendDeps | undefined
}

/** `host:port` of each listener; null: it is not configured. */
export interface RunningSubmissionRole {
  readonly submission: string | null
  readonly submissions: string | null
}

/** Starts what takes mail that programs submit by SMTP; gives the addresses on which it listens. */
export async function startSubmissionRole(
  context: AppContext,
  roleDeps: SubmissionRoleDeps,
): Promise<RunningSubmissionRole> {
  const { config } = context
  const { submissionListen, submissionsListen } = config
  if (!submissionListen && !submissionsListen) return { submission: null, submissions: null }
  const deps = openSubmission(context, roleDeps)
  const spoolFolder = openSpoolFolder(join(config.varFolder, 'submission-spool'))
  const open = async (listener: SmtpListener) => {
    warnWithoutCertificate(context, listener, roleDeps.certificates)
    const { maxRecipients: configured, maxMessageBytes: largest } = config
    const server = await openSmtpServer({
      config: {
        ...config,
        maxRecipients: Math.min(configured, maxRecipients),
        maxMessageBytes: Math.min(largest, maxMessageBytes),
      },
      listener,
      openService: clientAddress => openSubmissionService(clientAddress, deps),
      certificates: roleDeps.certificates,
      log: context.log,
      clock: context.clock,
      spoolFolder,
      sharesPort: context.share.sharesPorts,
    })
    context.onDrain(() => server.close())
    return `${server.address.host}:${server.address.port}`
  }
  return {
    submission: submissionListen ? await open(withStartTls(submissionListen)) : null,
    submissions: submissionsListen ? await open(withImplicitTls(submissionsListen)) : null,
  }
}

function withStartTls(listen: Endpoint): SmtpListener {
  const isLocal = isLoopback(listen.host)
  return { kind: 'submission', listen, tls: 'starttls', requiresCertificate: !isLocal, allowsLocalLogin: isLocal }
}

function withImplicitTls(listen: Endpoint): SmtpListener {
  return { kind: 'submission', listen, tls: 'implicit', requiresCertificate: true, allowsLocalLogin: false }
}

function warnWithoutCertificate(
  { log }: AppContext,
  { listen, tls, requiresCertificate }: SmtpListener,
  certificates: Certificates,
): void {
  if (certificates.current().length > 0) return
  const fields = { listen: `${listen.host}:${listen.port}`, tls }
  if (requiresCertificate)
    log.warn(
      fields,
      'there is no TLS certificate: mail submission is off until there is one (MAILROOM_TLS_CERT or MAILROOM_ACME_DIRECTORY)',
    )
  else log.warn(fields, 'there is no TLS certificate: programs of this machine submit mail without TLS')
}

function openSubmission(context: AppContext, { wakeRelay, sending }: SubmissionRoleDeps): SubmissionDeps {
  const { log, clock, clientLimits, bounces, onStop } = context
  const db = sending?.db ?? context.openPool('submission')
  const authenticator = openKeyAuthenticator(db, clock)
  onStop(() => authenticator.close())
  const idempotencyKeys = openIdempotencyKeys(db, clock, log)
  onStop(() => idempotencyKeys.close())
  const requestLog = openRequestLog(context.db, log)
  onStop(() => requestLog.close())
  const reader = openMessageReader()
  onStop(() => reader.close())
  return {
    sending: sending ?? openRoleSending(context, db, wakeRelay),
    reader,
    authenticator,
    idempotencyKeys,
    clientLimits,
    recorder: openSubmissionRecorder({ requestLog, clock, log }),
    memory: newWeightedSemaphore(maxMemoryBytes),
    hostname: bounces.hostname,
  }
}
