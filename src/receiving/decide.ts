import type { Folder } from '../base/database/schema.ts'
import type { Id } from '../base/ids.ts'
import type { SenderListing } from '../inbox/senders/table.ts'
import { canonicalDomain } from '../mail/address.ts'
import type { Verdicts } from '../ports/authenticator/port.ts'
import type { SpamFindings } from '../ports/spam-filter/port.ts'
import type { FilingSummary } from './parse.ts'
import type { ScanOutcome } from './scan.ts'
import type { SmtpRefusalCode } from './smtp-refusal.ts'
import type { Verification } from './verify.ts'

/** The instance's policy. Organizations have none of their own, since there is one reply to DATA: their listings pick a folder. */
export interface InboundPolicy {
  /** Answer 550 5.7.26 to what fails p=reject, instead of filing it as spam. */
  readonly dmarcReject: boolean
  /** What happens to mail that cannot be scanned. */
  readonly unscanned: 'quarantine' | 'defer'
}

/** Why a message is in its folder. `auto_reply`, `report`: accepted, and sent by a program rather than a person. */
export type FolderReason =
  | 'accepted'
  | 'auto_reply'
  | 'report'
  | 'spf_fail'
  | 'dmarc_fail'
  | 'from_unchecked'
  | 'sender_blocked'
  | 'spam_filter'
  | 'infected'
  | 'unscanned'

export interface FolderDecision {
  readonly kind: 'file'
  readonly folder: Folder
  readonly reason: FolderReason
  /** The folder it moves to once a later scan finds it clean; null: it was scanned, or a later scan would be no better. */
  readonly releaseFolder: Folder | null
  /** Why it goes there. */
  readonly releaseReason: FolderReason | null
}

export type Decision = FolderDecision | { readonly kind: 'refuse'; readonly code: SmtpRefusalCode }

/** A message with so many Received fields is in a mail loop (RFC 5321 §6.3). */
export const maxHops = 50

export interface DecisionInput extends Verification {
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
  readonly scan: ScanOutcome
  readonly summary: Pick<FilingSummary, 'from' | 'fromFields' | 'hops' | 'report'>
  /** null: no spam filter checked it. */
  readonly spam: Pick<SpamFindings, 'isSpam'> | null
  /** How the recipient's organization lists the sender. */
  readonly listing: SenderListing | null
}

/** The decisions for the organizations that have a recipient. */
export type Decisions =
  | { readonly kind: 'file'; readonly byOrganization: ReadonlyMap<Id<'org'>, FolderDecision> }
  | Extract<Decision, { kind: 'refuse' }>

/** {@link decide} for each organization, by how it lists the sender. A refusal is one for all: no listing refuses a message. */
export function decideForEach(
  facts: Omit<DecisionInput, 'listing'>,
  listings: ReadonlyMap<Id<'org'>, SenderListing | null>,
  policy: InboundPolicy,
): Decisions {
  const byOrganization = new Map<Id<'org'>, FolderDecision>()
  for (const [organizationId, listing] of listings) {
    const decision = decide({ ...facts, listing }, policy)
    if (decision.kind === 'refuse') return decision
    byOrganization.set(organizationId, decision)
  }
  return { kind: 'file', byOrganization }
}

/** What happens to a message. First what its sender must change, then our own failures, then the folder. */
export function decide(input: DecisionInput, policy: InboundPolicy): Decision {
  const { mailFrom, verdicts, isResolverUnavailable, scan, summary } = input
  if (summary.hops >= maxHops) return { kind: 'refuse', code: 'mail_loop' }
  const isFromAccepted = hasOneFrom(verdicts, summary) || (mailFrom === '' && hasNobodyInFrom(verdicts, summary))
  if (!isFromAccepted) return { kind: 'refuse', code: 'from_malformed' }
  if (isResolverUnavailable) return { kind: 'refuse', code: 'resolver_away' }
  if (policy.dmarcReject && failsDmarc(verdicts, 'reject')) return { kind: 'refuse', code: 'dmarc_reject' }
  switch (scan.kind) {
    case 'clean':
      return { ...folderByVerdicts(input), ...notReleased }
    case 'infected':
      return { kind: 'file', folder: 'quarantine', reason: 'infected', ...notReleased }
    case 'unscanned':
      return policy.unscanned === 'defer'
        ? { kind: 'refuse', code: 'scanner_away' }
        : {
            kind: 'file',
            folder: 'quarantine',
            reason: 'unscanned',
            ...(scan.isPermanent ? notReleased : release(input)),
          }
    default:
      return scan satisfies never
  }
}

const notReleased = { releaseFolder: null, releaseReason: null }

function release(input: DecisionInput): Pick<FolderDecision, 'releaseFolder' | 'releaseReason'> {
  const { folder, reason } = folderByVerdicts(input)
  return { releaseFolder: folder, releaseReason: reason }
}

/** There is one From field with one address (RFC 5322 §3.6), and the address shown is the one that was authenticated. */
function hasOneFrom({ from }: Verdicts, summary: DecisionInput['summary']): boolean {
  const [shown] = summary.from
  if (summary.fromFields !== 1 || summary.from.length !== 1 || !shown || from.length > 1) return false
  const [authenticated] = from
  return authenticated === undefined || domainOf(authenticated) === domainOf(shown.address)
}

/** There is no domain in From, which some mail systems leave without an address, or leave out, in their reports. */
function hasNobodyInFrom({ from }: Verdicts, summary: DecisionInput['summary']): boolean {
  const addresses = [...summary.from.map(shown => shown.address), ...from]
  return summary.fromFields <= 1 && from.length <= 1 && addresses.every(address => !/@./.test(address))
}

function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1).trim()
  return canonicalDomain(domain) ?? domain.toLowerCase()
}

function folderByVerdicts(input: DecisionInput): Pick<FolderDecision, 'kind' | 'folder' | 'reason'> {
  const { verdicts, listing, spam } = input
  if (failsDmarc(verdicts, 'reject') || failsDmarc(verdicts, 'quarantine'))
    return { kind: 'file', folder: 'spam', reason: 'dmarc_fail' }
  if (isFromUnchecked(input)) return { kind: 'file', folder: 'spam', reason: 'from_unchecked' }
  if (failsSpf(verdicts)) return { kind: 'file', folder: 'spam', reason: 'spf_fail' }
  if (listing === 'block') return { kind: 'file', folder: 'spam', reason: 'sender_blocked' }
  const isAllowed = listing === 'allow' && mayBeAllowed(verdicts)
  if (spam?.isSpam && !isAllowed) return { kind: 'file', folder: 'spam', reason: 'spam_filter' }
  return { kind: 'file', folder: 'inbox', reason: 'accepted' }
}

/** A header that is too large to be checked must not pass DMARC because of that. A report may have nobody in From. */
function isFromUnchecked({ mailFrom, verdicts, summary }: DecisionInput): boolean {
  if (!hasNobodyInFrom(verdicts, summary)) return verdicts.from.length === 0
  return mailFrom === '' && !isReport(summary)
}

/** Whether it reports what became of another message. */
export function isReport({ report }: Pick<FilingSummary, 'report'>): boolean {
  return report !== null && report.kind !== 'none' && report.kind !== 'auto-reply'
}

function failsDmarc({ dmarc }: Verdicts, policy: 'quarantine' | 'reject'): boolean {
  return dmarc.result === 'fail' && dmarc.policy === policy
}

/**
 * Allowing a sender speaks against the spam filter alone, and only for mail that may be theirs: where DMARC fails, whatever its
 * policy, or cannot be known, somebody else may have written it.
 */
function mayBeAllowed({ dmarc }: Verdicts): boolean {
  return dmarc.result === 'pass' || dmarc.result === 'none'
}

/** SPF fails behind every forwarder: it counts only without a DMARC policy and an aligned DKIM pass, or one that DNS may hide. */
function failsSpf({ spf, dkim, dmarc }: Verdicts): boolean {
  const mayBeSigned = (dkim.result === 'pass' && dkim.aligned === true) || dkim.result === 'temperror'
  return spf.result === 'fail' && dmarc.result === 'none' && !mayBeSigned
}
