import { type DmarcResponse, evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { formatDomain, getAlignment } from 'mailauth/lib/tools.js'
import type { MailauthResolve } from './dns-errors.ts'
import type { Verdicts } from './port.ts'
import { type Checked, resultOf, whyItThrew } from './result.ts'
import type { ReadMessage } from './signatures.ts'

type DmarcVerdict = Verdicts['dmarc']

/**
 * Does an identifier align with the domain in From (RFC 9989 §4.4)? null: From has no one domain. Without a policy that
 * says more, and for what did not pass, the Public Suffix List stands in for the tree walk.
 */
export type Aligns = (by: 'spf' | 'dkim', domain: string, isPass: boolean) => boolean | null

export interface DmarcChecked {
  readonly verdict: DmarcVerdict
  readonly aligns: Aligns
}

/** DMARC of what passed (RFC 9989 §5.3). Never throws. */
export async function checkDmarc(
  message: ReadMessage,
  spf: Checked,
  signatures: readonly Checked[],
  resolver: MailauthResolve,
): Promise<DmarcChecked> {
  const { headerFrom, fromFields } = message.verifier
  try {
    const { response, reason, dkimAligned } = await evaluateDmarc({
      headerFrom,
      fromFields,
      spfDomains: passed([spf]),
      dkimDomains: passed(signatures),
      resolver,
      strict: true,
    })
    if (!response) return withoutFromDomain('permerror', reason ?? 'From has no domain')
    const aligns = alignment(response, dkimAligned)
    const doubt = response.status.result === 'fail' ? doubtOf(spf, signatures, aligns) : null
    return { verdict: doubt === null ? verdictOf(response) : inDoubt(response, doubt), aligns }
  } catch (error) {
    return withoutFromDomain('temperror', whyItThrew(error))
  }
}

function passed(identifiers: readonly Checked[]): readonly string[] {
  return identifiers.flatMap(each => (each.result === 'pass' && each.domain !== null ? [each.domain] : []))
}

function withoutFromDomain(result: 'permerror' | 'temperror', detail: string): DmarcChecked {
  return { verdict: { result, domain: null, aligned: null, detail, policy: null }, aligns: () => null }
}

function alignment(response: DmarcResponse, dkimAligned: ReadonlySet<string> | undefined): Aligns {
  const from = response.status.header.from
  return (by, domain, isPass) => {
    const found = response.alignment
    if (found && isPass && by === 'spf') return found.spf.result !== undefined
    if (found && isPass && dkimAligned) return dkimAligned.has(formatDomain(domain))
    if (found?.[by].strict) return formatDomain(domain) === formatDomain(from)
    return getAlignment(from, [domain]) !== false
  }
}

/** What DNS trouble left open, though it would align; null: nothing. */
function doubtOf(spf: Checked, signatures: readonly Checked[], aligns: Aligns): string | null {
  const isOpen = (by: 'spf' | 'dkim', { result, domain }: Checked) =>
    result === 'temperror' && domain !== null && aligns(by, domain, false) === true
  if (isOpen('spf', spf)) return 'SPF'
  return signatures.some(each => isOpen('dkim', each)) ? 'DKIM' : null
}

function inDoubt(response: DmarcResponse, by: string): DmarcVerdict {
  const detail = `neither passed, but ${by} met DNS trouble; ${response.status.comment ?? ''}`
  return { ...verdictOf(response), result: 'temperror', aligned: null, detail }
}

function verdictOf(response: DmarcResponse): DmarcVerdict {
  const { status, policy, policyDomain, error } = response
  const result = resultOf(status.result)
  const at = policyDomain === undefined ? null : `policy of ${policyDomain}: ${status.comment ?? ''}`
  return {
    result,
    domain: status.header.from,
    aligned: result === 'pass' ? true : result === 'fail' ? false : null,
    detail: [error, at].filter(part => part).join('; ') || null,
    policy: policy === 'none' || policy === 'quarantine' || policy === 'reject' ? policy : null,
  }
}
