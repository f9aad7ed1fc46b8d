import type { Db } from '../../base/database/database.ts'
import { counter } from '../../base/observability/metrics.ts'
import { isReturnPath } from '../../domains/return-path-table.ts'
import type { ReturnPaths } from '../../sending/reports/return-path.ts'
import type { InboundRecipient } from '../incoming-message.ts'
import { refuseMail } from '../smtp-refusal.ts'
import { selectBouncedRecipient } from './table.ts'

/** Recognises our bounce addresses. */
export interface BounceAddresses {
  readonly returnPaths: ReturnPaths
  /** Our own name, lower case: their domain where the sending domain has no return path of its own. */
  readonly hostname: string
}

export const reportsCounter = counter(
  'mailroom_reports_total',
  'Messages read as reports about emails we sent, by kind; forged: the bounce address was not made by us.',
  ['outcome'],
)

/** Is this the domain of bounce addresses: our own name, or the return path of a domain, whether or not its DNS records exist? */
export async function isBounceHost(db: Db, { hostname }: BounceAddresses, domain: string): Promise<boolean> {
  return domain === hostname || (await isReturnPath(db, domain))
}

/**
 * The recipient for a bounce address; undefined: it does not have the form of one, or not the domain.
 * @throws SmtpRefusal mailbox_unknown: we did not make this address, or its email has been deleted
 */
export async function findBounceRecipient(
  db: Db,
  bounces: BounceAddresses,
  { localPart, domain, canonical }: { readonly localPart: string; readonly domain: string; readonly canonical: string },
): Promise<InboundRecipient | undefined> {
  const target = bounces.returnPaths.read(localPart)
  if (target === undefined) return undefined
  if (target === 'forged') {
    if (!(await isBounceHost(db, bounces, domain))) return undefined
    reportsCounter.inc({ outcome: 'forged' })
    throw refuseMail('mailbox_unknown')
  }
  const bounced = await selectBouncedRecipient(db, target.emailId, target.position)
  if (!bounced || !(domain === bounces.hostname || bounced.hosts.includes(domain))) throw refuseMail('mailbox_unknown')
  const { organizationId, brandId, domainId } = bounced
  return { address: canonical, organizationId, brandId, domainId, mailboxId: null, bounceOf: target }
}
