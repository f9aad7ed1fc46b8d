import type { Db } from '../../base/database/database.ts'
import { counter } from '../../base/observability/metrics.ts'
import { isReturnPath } from '../../domains/return-path-table.ts'
import type { ReturnPaths } from '../../sending/reports/return-path.ts'
import type { InboundRecipient } from '../incoming-message.ts'
import { refuseMail } from '../smtp-refusal.ts'
import { selectBouncedRecipient } from './table.ts'

/** What recognises the addresses that reports come to. */
export interface BounceAddresses {
  readonly returnPaths: ReturnPaths
  /** Our own name, lower case, below which they are where a domain has no return path of its own. */
  readonly hostname: string
}

export const reportsCounter = counter(
  'mailroom_reports_total',
  'Messages that came to be read as reports of what we sent, by what they were; forged: the address was.',
  ['outcome'],
)

/** Is this a name that reports come to: our own, or the return path of a domain, whether or not its records stand? */
export async function isBounceHost(db: Db, { hostname }: BounceAddresses, domain: string): Promise<boolean> {
  return domain === hostname || (await isReturnPath(db, domain))
}

/**
 * The recipient for a bounce address; undefined: it has not the form of one, or is at a name where none is.
 * @throws SmtpRefusal mailbox_unknown: it is not one that we made, or its email is not there any more
 */
export async function findBounceRecipient(
  db: Db,
  bounces: BounceAddresses,
  { localPart, domain, canonical }: { readonly localPart: string; readonly domain: string; readonly canonical: string },
): Promise<InboundRecipient | undefined> {
  const place = bounces.returnPaths.read(localPart)
  if (place === undefined) return undefined
  if (place === 'forged') {
    if (!(await isBounceHost(db, bounces, domain))) return undefined
    reportsCounter.inc({ outcome: 'forged' })
    throw refuseMail('mailbox_unknown')
  }
  const found = await selectBouncedRecipient(db, place.emailId, place.position)
  if (!found || !(domain === bounces.hostname || found.hosts.includes(domain))) throw refuseMail('mailbox_unknown')
  const { organizationId, brandId, domainId } = found
  return { address: canonical, organizationId, brandId, domainId, mailboxId: null, bounceOf: place }
}
