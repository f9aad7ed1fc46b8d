import type { Plan } from '../../accounts/organizations/quota.ts'
import type { Id } from '../../base/ids.ts'
import { type Refusal, refuse } from '../../base/refusal.ts'
import type { RecipientLists } from './recipients.ts'
import type { SuppressedRecipient } from './table.ts'

/** What the gate asks of a send. */
export interface CheckedSend {
  readonly domainId: Id<'dom'>
  readonly domain: string
  readonly brandId: Id<'brd'>
  readonly recipients: readonly EnvelopeRecipient[]
  /** Can they unsubscribe from it? */
  readonly unsubscribe: boolean
}

/** A recipient of the envelope. */
export interface EnvelopeRecipient {
  readonly email: string
  readonly type: 'to' | 'cc' | 'bcc'
}

/** What is true at this moment, for all sends of a batch. */
export interface AcceptanceFacts {
  readonly readyDomains: ReadonlySet<Id<'dom'>>
  /** The domains of brands whose sending is paused, and why. */
  readonly pausedDomains: ReadonlyMap<Id<'dom'>, string>
  readonly plans: ReadonlyMap<Id<'org'>, Plan>
  /** As {@link suppressionKey} gives them. */
  readonly suppressed: ReadonlySet<string>
  /** Those who are suppressed only where they can unsubscribe, by the same keys. */
  readonly unsubscribed: ReadonlySet<string>
}

/** The envelope's recipients, in the order to, cc, bcc. */
export function envelopeRecipients({ to, cc, bcc }: RecipientLists): readonly EnvelopeRecipient[] {
  const typed = (type: EnvelopeRecipient['type'], of: RecipientLists['to']) =>
    of.map(({ address }) => ({ email: address, type }))
  return [...typed('to', to), ...typed('cc', cc), ...typed('bcc', bcc)]
}

/** How facts name an address on a brand's list: addresses compare without case. */
function suppressionKey(brandId: Id<'brd'>, email: string): string {
  return `${brandId} ${email.toLowerCase()}`
}

export function isSuppressed(
  send: Pick<CheckedSend, 'brandId' | 'unsubscribe'>,
  { email }: Pick<EnvelopeRecipient, 'email'>,
  facts: Pick<AcceptanceFacts, 'suppressed' | 'unsubscribed'>,
): boolean {
  const key = suppressionKey(send.brandId, email)
  return facts.suppressed.has(key) || (send.unsubscribe && facts.unsubscribed.has(key))
}

/** Who is suppressed from all, and who from what they can unsubscribe from. */
export function suppressionSets(
  found: readonly SuppressedRecipient[],
): Pick<AcceptanceFacts, 'suppressed' | 'unsubscribed'> {
  const keys = (isUnsubscribed: boolean) =>
    new Set(
      found
        .filter(suppressedRecipient => suppressedRecipient.isUnsubscribed === isUnsubscribed)
        .map(suppressedRecipient => suppressionKey(suppressedRecipient.brandId, suppressedRecipient.email)),
    )
  return { suppressed: keys(false), unsubscribed: keys(true) }
}

/** The refusals of the acceptance checks, quota included. */
export const acceptanceRefusals = [
  'domain_not_verified',
  'from_not_allowed',
  'recipient_suppressed',
  'quota_exceeded',
] as const

/** Why a send is refused, by the first of the gate's conditions that it does not meet; quota comes after these. */
export function runChecks(send: CheckedSend, facts: AcceptanceFacts): Refusal | undefined {
  return refuseUnready(send, facts) ?? refusePaused(send, facts) ?? refuseSuppressed(send, facts)
}

function refuseUnready({ domainId, domain }: CheckedSend, { readyDomains }: AcceptanceFacts): Refusal | undefined {
  if (readyDomains.has(domainId)) return undefined
  return refuse('domain_not_verified', {
    message: `from: ${domain} is not verified; publish its DNS records and check it.`,
    param: 'from',
  })
}

function refusePaused({ domainId, domain }: CheckedSend, { pausedDomains }: AcceptanceFacts): Refusal | undefined {
  const reason = pausedDomains.get(domainId)
  if (reason === undefined) return undefined
  return refuse('from_not_allowed', {
    message: `from: sending of the brand that ${domain} belongs to is paused.`,
    param: 'from',
    reason,
    resolution: 'Mend what makes emails bounce or be complained of, then have the operator resume the brand.',
  })
}

function refuseSuppressed(send: CheckedSend, facts: AcceptanceFacts): Refusal | undefined {
  const [first] = send.recipients
  if (!first || !send.recipients.every(recipient => isSuppressed(send, recipient, facts))) return undefined
  const others = send.recipients.length - 1
  return refuse('recipient_suppressed', {
    message: `to: ${first.email}${others > 0 ? ` and ${others} more` : ''}: on the suppression list of the brand, and no recipient is left.`,
    param: 'to',
  })
}

/** With what status a plan's end is answered: 402 belongs to POST /v1/emails alone. */
export type QuotaStatus = 402 | 422

/** The answer of a plan whose emails of the month are used up. */
export function refuseOverQuota(status: QuotaStatus): Refusal {
  return refuse('quota_exceeded', {
    ...(status === 422 ? { status } : {}),
    message: 'The plan includes no more emails this calendar month (UTC).',
    resolution: 'Upgrade the plan, or wait for the next month.',
  })
}
