import type { Resolver } from '../../resolver/port.ts'
import type { Authenticator } from '../port.ts'
import { checkArc } from './arc.ts'
import { bestSignature, signaturesOf } from './dkim.ts'
import { checkDmarc, type DmarcEvaluation } from './dmarc.ts'
import { fromAddresses } from './from-addresses.ts'
import { newReadKeys } from './key-cache.ts'
import { newRepeatedCheck } from './repeated-check.ts'
import { mailauthResolver } from './resolver.ts'
import type { CheckResult } from './result.ts'
import { verifySignatures } from './signatures.ts'
import { checkSpf } from './spf.ts'

export interface MailauthOptions {
  readonly resolver: Resolver
  /** Our name, for SPF's macros. */
  readonly hostname: string
  /** How long all DNS lookups for one message may take together. */
  readonly messageTimeoutMs: number
}

/**
 * An {@link Authenticator} on mailauth in its `strict` mode: SPF (RFC 7208), DKIM (RFC 6376, 8301, 8463), DMARC (RFC 9989)
 * and ARC (RFC 8617). Beyond mailauth, a DKIM signature whose `l=` leaves bytes unsigned fails, work and key sizes are
 * bounded, and DMARC is temperror rather than fail while a DNS error leaves open what might have passed.
 * Rejects only with what reading a spooled file throws.
 */
export function mailauthAuthenticator({ resolver, hostname, messageTimeoutMs }: MailauthOptions): Authenticator {
  const readKeys = newReadKeys()
  const checkSpfAgain = newRepeatedCheck<CheckResult>()
  const evaluateDmarcAgain = newRepeatedCheck<DmarcEvaluation>()
  return {
    async authenticate(input) {
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(), messageTimeoutMs)
      const tooLongKeys = new Set<string>()
      const resolve = mailauthResolver(resolver, deadline.signal, name => tooLongKeys.add(name))
      try {
        const [spf, message] = await Promise.all([
          checkSpfAgain([input.mailFrom, input.remoteIp, input.helo], resolve, recordingResolve =>
            checkSpf(input, hostname, recordingResolve),
          ),
          verifySignatures(input.content, resolve, readKeys),
        ])
        const signatures = signaturesOf(message, tooLongKeys)
        const { verdict: dmarc, aligns } = await checkDmarc(message, spf, signatures, resolve, evaluateDmarcAgain)
        return {
          spf: { ...spf, aligned: spf.domain === null ? null : aligns('spf', spf.domain, spf.result === 'pass') },
          dkim: bestSignature(signatures, aligns),
          dmarc,
          arc: await checkArc(message, resolve),
          from: fromAddresses(message),
        }
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
