import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { newId } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Verdict, Verdicts } from '../../ports/authenticator/port.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { ReportMail } from '../../ports/provider/simulator/report-messages.ts'
import type { Scanner } from '../../ports/scanner/port.ts'
import { decide } from '../decide.ts'
import { filer } from '../file.ts'
import type { InboundRecipient, IncomingMessage } from '../incoming-message.ts'
import { parseForFiling } from '../parse.ts'
import { recipientFinder } from '../recipient.ts'
import { scanMessage } from '../scan.ts'
import { SmtpRefusal } from '../smtp-refusal.ts'
import { store } from '../store.ts'
import type { BounceAddresses } from './bounce-address.ts'
import { reportTaker } from './record-report.ts'

export interface SimulatedMailDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly scanner: Scanner
  readonly clock: Clock
  readonly log: Log
  readonly bounces: BounceAddresses
}

export interface SimulatedMail {
  /** Takes a report at a bounce address. False: it would come to none of ours. */
  receiveReport(mail: ReportMail): Promise<boolean>
  /** Takes an automatic answer: at a bounce address, or in the mailbox of ours that it goes to. False: it goes to neither. */
  receiveAutoReply(mail: ReportMail): Promise<boolean>
}

/**
 * Takes mail that the simulator wrote by the way of what comes in: the same finding of the address, the same reading and
 * scan, the same record. Only what SMTP does before is left out, and who sent it is asked of nobody.
 */
export function simulatedMail({ db, blobs, scanner, clock, log, bounces }: SimulatedMailDeps): SimulatedMail {
  const findRecipient = recipientFinder(db, undefined, bounces)
  const takeReport = reportTaker({ db, log })
  const file = filer({ db, blobs })

  async function recipientOf(address: string): Promise<InboundRecipient | null> {
    try {
      return await findRecipient(address)
    } catch (error) {
      if (error instanceof SmtpRefusal) return null
      throw error
    }
  }

  function incoming({ message }: ReportMail, recipient: InboundRecipient): IncomingMessage {
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

  async function fileAnswer(mail: IncomingMessage): Promise<void> {
    const outline = await parseForFiling(mail.content)
    const scan = await scanMessage(mail.content, mail.signal, { scanner, scanWaitMs: 0 })
    const verdicts = unauthenticated(outline.from.map(address => address.address))
    const evidence = { verdicts, isResolverUnavailable: false, scan, summary: outline }
    const filing = decide(evidence, { dmarcReject: false, unscanned: 'quarantine' })
    if (filing.kind === 'refuse') throw new Error(`a simulated answer was refused: ${filing.code}`)
    await file({ mail, verdicts, scan, summary: outline, decision: filing, bytes: await store(mail, blobs) })
  }

  async function takeSimulated(simulated: ReportMail): Promise<boolean> {
    const { rcptTo } = simulated
    if (typeof bounces.returnPaths.read(rcptTo.slice(0, rcptTo.lastIndexOf('@'))) !== 'object') return false
    const recipient = await recipientOf(rcptTo)
    if (recipient === null) return false
    const mail = incoming(simulated, recipient)
    const { report, isAutomaticReply } = await parseForFiling(mail.content)
    await takeReport(mail, report, isAutomaticReply)
    return true
  }

  return {
    receiveReport: takeSimulated,
    async receiveAutoReply(simulated) {
      if (await takeSimulated(simulated)) return true
      const recipient = await recipientOf(simulated.rcptTo)
      if (recipient) await fileAnswer(incoming(simulated, recipient))
      return recipient !== null
    },
  }
}

function unauthenticated(from: readonly string[]): Verdicts {
  const none: Verdict = { result: 'none', domain: null, aligned: null, detail: 'It was simulated.' }
  return { spf: none, dkim: none, dmarc: { ...none, policy: null }, arc: { ...none, sealer: null }, from }
}
