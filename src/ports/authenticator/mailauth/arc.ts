import { arc } from 'mailauth/lib/arc/index.js'
import type { Verdicts } from '../port.ts'
import type { MailauthResolve } from './resolver.ts'
import { describeException, toAuthResult } from './result.ts'
import type { VerifiedMessage } from './signatures.ts'

type ArcVerdict = Verdicts['arc']

/** Validates the ARC chain of a message (RFC 8617 §5.2); `none` without one. Never rejects. */
export async function checkArc({ verifier, limits }: VerifiedMessage, resolver: MailauthResolve): Promise<ArcVerdict> {
  if (limits !== null && limits.arcProblem !== null) return verdict('fail', null, limits.arcProblem)
  const { chain, error, lastEntry } = verifier.arc
  if (!chain && !error) return verdict('none', null, null)
  const sealer = sealerOf(lastEntry?.['arc-seal']?.parsed?.d?.value)
  const unsigned = lastEntry?.messageSignature?.status.underSized ?? 0
  try {
    const { status } = await arc(verifier.arc, { resolver, strict: true })
    if (unsigned > 0 && status.result === 'pass')
      return verdict('fail', sealer, `l= leaves ${unsigned} bytes of the body unsigned`)
    return verdict(toAuthResult(status.result), sealer, status.comment ?? null)
  } catch (thrown) {
    return verdict('permerror', sealer, describeException(thrown))
  }
}

function verdict(result: ArcVerdict['result'], sealer: string | null, detail: string | null): ArcVerdict {
  return { result, domain: sealer, aligned: null, detail, sealer }
}

function sealerOf(domain: unknown): string | null {
  return typeof domain === 'string' && domain !== '' ? domain.toLowerCase() : null
}
