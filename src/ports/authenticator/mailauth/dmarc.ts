import { type DmarcResponse, evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { formatDomain, getAlignment } from 'mailauth/lib/tools.js'
import type { Verdicts } from '../port.ts'
import type { RepeatedCheck } from './repeated-check.ts'
import type { MailauthResolve } from './resolver.ts'
import { type CheckResult, describeException, toAuthResult } from './result.ts'
import type { VerifiedMessage } from './signatures.ts'

type DmarcVerdict = Verdicts['dmarc']

/**
 * Does an identifier align with the domain in From (RFC 9989 §4.4)? null: From has not exactly one domain. Without a policy
 * record, and for an identifier that did not pass, the Public Suffix List is used instead of the tree walk.
 */
export type AlignmentCheck = (by: 'spf' | 'dkim', domain: string, isPass: boolean) => boolean | null

/** What mailauth makes of the identifiers and the policy records. */
export type DmarcEvaluation = Awaited<ReturnType<typeof evaluateDmarc>>

export interface DmarcResult {
  readonly verdict: DmarcVerdict
  readonly aligns: AlignmentCheck
}

/** Evaluates DMARC from the identifiers that passed (RFC 9989 §5.3). Never rejects. */
export async function checkDmarc(
  message: VerifiedMessage,
  spf: CheckResult,
  signatures: readonly CheckResult[],
  resolver: MailauthResolve,
  evaluate: RepeatedCheck<DmarcEvaluation>,
): Promise<DmarcResult> {
  const { headerFrom, fromFields } = message.verifier
  try {
    const spfDomains = passed([spf])
    const dkimDomains = passed(signatures)
    const { response, reason, dkimAligned } = await evaluate(
      [headerFrom, fromFields, spfDomains, dkimDomains],
      resolver,
      recordingResolve =>
        evaluateDmarc({ headerFrom, fromFields, spfDomains, dkimDomains, resolver: recordingResolve, strict: true }),
    )
    if (!response) return withoutFromDomain('permerror', reason ?? 'From has no domain')
    const aligns = alignment(response, dkimAligned)
    const unchecked = response.status.result === 'fail' ? uncheckedMechanism(spf, signatures, aligns) : null
    return { verdict: unchecked === null ? verdictOf(response) : undecided(response, unchecked), aligns }
  } catch (error) {
    return withoutFromDomain('temperror', describeException(error))
  }
}

function passed(identifiers: readonly CheckResult[]): readonly string[] {
  return identifiers.flatMap(identifier =>
    identifier.result === 'pass' && identifier.domain !== null ? [identifier.domain] : [],
  )
}

function withoutFromDomain(result: 'permerror' | 'temperror', detail: string): DmarcResult {
  return { verdict: { result, domain: null, aligned: null, detail, policy: null }, aligns: () => null }
}

function alignment(response: DmarcResponse, dkimAligned: ReadonlySet<string> | undefined): AlignmentCheck {
  const from = response.status.header.from
  return (by, domain, isPass) => {
    const found = response.alignment
    if (found && isPass && by === 'spf') return found.spf.result !== undefined
    if (found && isPass && dkimAligned) return dkimAligned.has(formatDomain(domain))
    if (found?.[by].strict) return formatDomain(domain) === formatDomain(from)
    return getAlignment(from, [domain]) !== false
  }
}

/** The mechanism whose identifier aligns but could not be checked because of a DNS error; null: none. */
function uncheckedMechanism(
  spf: CheckResult,
  signatures: readonly CheckResult[],
  aligns: AlignmentCheck,
): string | null {
  const isOpen = (by: 'spf' | 'dkim', { result, domain }: CheckResult) =>
    result === 'temperror' && domain !== null && aligns(by, domain, false) === true
  if (isOpen('spf', spf)) return 'SPF'
  return signatures.some(signature => isOpen('dkim', signature)) ? 'DKIM' : null
}

function undecided(response: DmarcResponse, mechanism: string): DmarcVerdict {
  const detail = `neither passed, but ${mechanism} met a DNS error; ${response.status.comment ?? ''}`
  return { ...verdictOf(response), result: 'temperror', aligned: null, detail }
}

function verdictOf(response: DmarcResponse): DmarcVerdict {
  const { status, policy, policyDomain, error } = response
  const result = toAuthResult(status.result)
  const at = policyDomain === undefined ? null : `policy of ${policyDomain}: ${status.comment ?? ''}`
  return {
    result,
    domain: status.header.from,
    aligned: result === 'pass' ? true : result === 'fail' ? false : null,
    detail: [error, at].filter(part => part).join('; ') || null,
    policy: policy === 'none' || policy === 'quarantine' || policy === 'reject' ? policy : null,
  }
}
