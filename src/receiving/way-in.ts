import type { Db } from '../base/database/database.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import { filer } from './file.ts'
import type { InboundPipeline } from './incoming-message.ts'
import { type ReceiveDeps, receive } from './receive.ts'
import { recipientFinder } from './recipient.ts'
import type { BounceAddresses } from './reports/bounce-address.ts'
import { reportTaker } from './reports/record-report.ts'

export interface WayInParts extends Omit<ReceiveDeps, 'file' | 'takeReport'> {
  readonly db: Db
  /** The mailbox for what is meant for a postmaster and finds none. */
  readonly postmaster: string | undefined
  /** Where reports of what we sent come to; undefined: to mailboxes only. */
  readonly bounces?: BounceAddresses | undefined
  /** Who is asked for the mail exchangers of those whom we sent to; see reports.ts. */
  readonly resolver?: Resolver | undefined
}

/** What the SMTP door needs, over these parts. */
export function openWayIn({ db, postmaster, bounces, resolver, ...parts }: WayInParts): InboundPipeline {
  const takeReport = reportTaker({ db, log: parts.log, resolver })
  const deps: ReceiveDeps = { ...parts, file: filer({ db, blobs: parts.blobs }), takeReport }
  return { findRecipient: recipientFinder(db, postmaster, bounces), receive: mail => receive(mail, deps) }
}
