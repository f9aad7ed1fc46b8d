import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { newId } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Authenticator, Verdict } from '../../ports/authenticator/port.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { ReportMail } from '../../ports/provider/simulator/report-messages.ts'
import type { Scanner } from '../../ports/scanner/port.ts'
import { MessageFiler } from '../file.ts'
import type { InboundRecipient, IncomingMessage } from '../incoming-message.ts'
import { parseHeaderForFiling } from '../parse.ts'
import { type ReceiveDeps, receive } from '../receive.ts'
import { batchedClaimLookups, findRecipient } from '../recipient.ts'
import { SmtpRefusal } from '../smtp-refusal.ts'
import type { BounceAddresses } from './bounce-address.ts'

export interface SimulatedMailDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly scanner: Scanner
  readonly clock: Clock
  readonly log: Log
  readonly bounces: BounceAddresses
}

export interface SimulatedMail {
  /** Receives a report at a bounce address. False: it is addressed to none of ours. */
  receiveReport(mail: ReportMail): Promise<boolean>
  /** Receives an auto-reply, at a bounce address or in a mailbox of ours. False: it is addressed to neither. */
  receiveAutoReply(mail: ReportMail): Promise<boolean>
}

/**
 * Receives mail that the simulator wrote, through the inbound pipeline without SMTP. Nobody is asked who sent it, and there
 * is always disk space for it.
 */
export function simulatedMail({ db, blobs, scanner, clock, log, bounces }: SimulatedMailDeps): SimulatedMail {
  const hasDiskSpace = () => true
  const recipientDeps = { db, findClaims: batchedClaimLookups(db), hasDiskSpace, bounces }
  const receiveDeps: ReceiveDeps = {
    db,
    blobs,
    log,
    hasDiskSpace,
    authenticator: unauthenticated,
    canary: () => Promise.resolve(true),
    scanner,
    scanAttachments: 'decoded',
    scanWaitMs: 0,
    policy: { dmarcReject: false, unscanned: 'quarantine' },
    filer: new MessageFiler({ db, blobs }),
  }

  async function recipientOf(address: string): Promise<InboundRecipient | null> {
    try {
      return await findRecipient(address, recipientDeps)
    } catch (error) {
      if (error instanceof SmtpRefusal) return null
      throw error
    }
  }

  function toIncoming({ message }: ReportMail, recipient: InboundRecipient): IncomingMessage {
    return {
      id: newId('msg'),
      mailFrom: '',
      recipients: [recipient],
      content: { kind: 'memory', bytes: message, size: message.length },
      remoteIp: '127.0.0.1',
      helo: 'mx.simulator.test',
      tls: null,
      smtputf8: false,
      receivedAt: clock.now(),
      signal: new AbortController().signal,
    }
  }

  function isBounceAddress(address: string): boolean {
    return typeof bounces.returnPaths.read(address.slice(0, address.lastIndexOf('@'))) === 'object'
  }

  async function receiveAutoReply(mail: ReportMail): Promise<boolean> {
    const recipient = await recipientOf(mail.rcptTo)
    if (recipient) await receive(toIncoming(mail, recipient), receiveDeps)
    return recipient !== null
  }

  return {
    receiveReport: async mail => isBounceAddress(mail.rcptTo) && (await receiveAutoReply(mail)),
    receiveAutoReply,
  }
}

/** Finds nothing out, and so passes any From. */
const unauthenticated: Authenticator = {
  async authenticate({ content }) {
    const { from } = await parseHeaderForFiling(content, 'only its header was read')
    const none: Verdict = { result: 'none', domain: null, aligned: null, detail: 'It was simulated.' }
    return {
      spf: none,
      dkim: none,
      dmarc: { ...none, policy: null },
      arc: { ...none, sealer: null },
      from: from.map(author => author.address),
    }
  },
}
