import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import { newId } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { ReportMail } from '../ports/provider/simulated-reports.ts'
import type { BounceAddresses } from './bounce-address.ts'
import { parseForFiling } from './parse.ts'
import { recipientFinder } from './recipient.ts'
import { reportTaker } from './reports.ts'

export interface SimulatedReportUse {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly bounces: BounceAddresses
}

/**
 * Takes reports that the simulator wrote by the way of those that come in: the same finding of the bounce address, the same
 * reading, the same record. Only what SMTP does before is left out. False: they would come to no bounce address of ours.
 */
export function simulatedReportTaker({ db, clock, log, bounces }: SimulatedReportUse) {
  const findRecipient = recipientFinder(db, undefined, bounces)
  const takeReport = reportTaker(db, log)
  return async ({ rcptTo, message }: ReportMail): Promise<boolean> => {
    if (typeof bounces.returnPaths.read(rcptTo.slice(0, rcptTo.lastIndexOf('@'))) !== 'object') return false
    const content = { kind: 'memory', bytes: message, size: message.length } as const
    const [recipient, { report, isAutomaticReply }] = await Promise.all([
      findRecipient(rcptTo),
      parseForFiling(content),
    ])
    const mail = {
      id: newId('msg'),
      mailFrom: '',
      recipients: [recipient],
      content,
      remoteIp: '127.0.0.1',
      helo: 'mx.simulator.test',
      tls: null,
      smtputf8: false,
      receivedAt: clock.now(),
      signal: new AbortController().signal,
    }
    await takeReport(mail, report, isAutomaticReply)
    return true
  }
}
