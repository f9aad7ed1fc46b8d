import type { SignatureResult } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { Aligns } from './dmarc.ts'
import type { Verdict } from './port.ts'
import { type Checked, resultOf } from './result.ts'
import type { ReadMessage } from './signatures.ts'

/** Each signature that was checked; none for an unsigned message, one permerror where none could be checked. */
export function signaturesOf(message: ReadMessage, tooLongKeys: ReadonlySet<string>): readonly Checked[] {
  const { limits, verifier, problem } = message
  if (problem !== null) return [permerror(problem)]
  if (limits === null) return [permerror('the header section is too long')]
  if (limits.signatures === 0) return []
  if (limits.dkimProblem !== null) return [permerror(limits.dkimProblem)]
  if (limits.checkedSignatures === 0) return [permerror('the signature is too long')]
  const checked = verifier.results.map(each => checkedSignature(each, tooLongKeys))
  const left = limits.signatures - limits.checkedSignatures
  const note = `; ${limits.checkedSignatures} of ${limits.signatures} signatures were checked`
  return left === 0 ? checked : checked.map(each => ({ ...each, detail: `${each.detail ?? ''}${note}` }))
}

function permerror(detail: string): Checked {
  return { result: 'permerror', domain: null, detail }
}

function checkedSignature(each: SignatureResult, tooLongKeys: ReadonlySet<string>): Checked {
  const { status, selector, algo } = each
  const domain = each.signingDomain?.toLowerCase() || null
  const of = selector ? `selector ${selector}, ${algo ?? 'no algorithm'}` : null
  const withDetail = (...parts: readonly (string | null | undefined)[]) => parts.filter(part => part).join('; ') || null
  if (status.underSized !== undefined && status.underSized > 0 && status.result === 'pass')
    return {
      result: 'fail',
      domain,
      detail: withDetail(`l= leaves ${status.underSized} bytes of the body unsigned`, of),
    }
  if (tooLongKeys.has(`${selector}._domainkey.${each.signingDomain}`))
    return { result: 'policy', domain, detail: withDetail('the key is longer than 4096 bits', of) }
  const rule = status.policy?.['dkim-rules']
  return { result: resultOf(status.result), domain, detail: withDetail(status.comment, rule, of) }
}

/** The signature that counts most: an aligned pass, else a pass, else the first. */
export function bestSignature(signatures: readonly Checked[], aligns: Aligns): Verdict {
  const verdicts = signatures.map(each => ({
    ...each,
    aligned: each.domain === null ? null : aligns('dkim', each.domain, each.result === 'pass'),
  }))
  const passes = verdicts.filter(each => each.result === 'pass')
  const best = passes.find(each => each.aligned) ?? passes[0] ?? verdicts[0]
  return best ?? { result: 'none', domain: null, aligned: null, detail: 'the message is not signed' }
}
