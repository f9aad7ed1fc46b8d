import type { SignatureResult } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { Verdict } from '../port.ts'
import type { AlignmentCheck } from './dmarc.ts'
import { type CheckResult, toAuthResult } from './result.ts'
import type { VerifiedMessage } from './signatures.ts'

/** The result of each signature that was checked; empty for an unsigned message, one permerror if none could be checked. */
export function signaturesOf(message: VerifiedMessage, tooLongKeys: ReadonlySet<string>): readonly CheckResult[] {
  const { limits, verifier, error } = message
  if (error !== null) return [permerror(error)]
  if (limits === null) return [permerror('the header section is too long')]
  if (limits.signatures === 0) return []
  if (limits.dkimProblem !== null) return [permerror(limits.dkimProblem)]
  if (limits.checkedSignatures === 0) return [permerror('the signature is too long')]
  const checked = verifier.results.map(result => toCheckResult(result, tooLongKeys))
  const skipped = limits.signatures - limits.checkedSignatures
  const note = `; ${limits.checkedSignatures} of ${limits.signatures} signatures were checked`
  return skipped === 0
    ? checked
    : checked.map(checkResult => ({ ...checkResult, detail: `${checkResult.detail ?? ''}${note}` }))
}

function permerror(detail: string): CheckResult {
  return { result: 'permerror', domain: null, detail }
}

function toCheckResult(signature: SignatureResult, tooLongKeys: ReadonlySet<string>): CheckResult {
  const { status, selector, algo } = signature
  const domain = signature.signingDomain?.toLowerCase() || null
  const of = selector ? `selector ${selector}, ${algo ?? 'no algorithm'}` : null
  const withDetail = (...parts: readonly (string | null | undefined)[]) => parts.filter(part => part).join('; ') || null
  if (status.underSized !== undefined && status.underSized > 0 && status.result === 'pass')
    return {
      result: 'fail',
      domain,
      detail: withDetail(`l= leaves ${status.underSized} bytes of the body unsigned`, of),
    }
  if (tooLongKeys.has(`${selector}._domainkey.${signature.signingDomain}`))
    return { result: 'policy', domain, detail: withDetail('the key is longer than 4096 bits', of) }
  const rule = status.policy?.['dkim-rules']
  return { result: toAuthResult(status.result), domain, detail: withDetail(status.comment, rule, of) }
}

/** The verdict that represents all signatures: an aligned pass, else a pass, else the first signature. */
export function bestSignature(signatures: readonly CheckResult[], aligns: AlignmentCheck): Verdict {
  const verdicts = signatures.map(signature => ({
    ...signature,
    aligned: signature.domain === null ? null : aligns('dkim', signature.domain, signature.result === 'pass'),
  }))
  const passes = verdicts.filter(verdict => verdict.result === 'pass')
  const best = passes.find(pass => pass.aligned) ?? passes[0] ?? verdicts[0]
  return best ?? { result: 'none', domain: null, aligned: null, detail: 'the message is not signed' }
}
