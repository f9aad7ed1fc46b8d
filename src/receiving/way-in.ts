import type { Db } from '../base/database.ts'
import { filer } from './file.ts'
import type { WayIn } from './incoming.ts'
import { type Receiving, receive } from './receive.ts'
import { recipientFinder } from './recipient.ts'

export interface WayInParts extends Omit<Receiving, 'file'> {
  readonly db: Db
  /** The mailbox for what is meant for a postmaster and finds none. */
  readonly postmaster: string | undefined
}

/** What the SMTP door needs, over these parts. */
export function openWayIn({ db, postmaster, ...parts }: WayInParts): WayIn {
  const use: Receiving = { ...parts, file: filer({ db, blobs: parts.blobs }) }
  return { findRecipient: recipientFinder(db, postmaster), receive: mail => receive(mail, use) }
}
