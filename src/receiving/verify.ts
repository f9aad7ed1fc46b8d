import type { Authenticator, Verdicts } from '../ports/authenticator/port.ts'
import type { Canary } from '../ports/resolver/canary.ts'
import type { IncomingMessage } from './incoming-message.ts'

export interface VerifyDeps {
  readonly authenticator: Authenticator
  readonly canary: Canary
}

export interface Verification {
  readonly verdicts: Verdicts
  /** A result is missing because of DNS, and not the sender's DNS: our own resolver does not answer. */
  readonly isResolverUnavailable: boolean
}

/** Checks SPF, DKIM, DMARC and ARC. */
export async function verify(mail: IncomingMessage, { authenticator, canary }: VerifyDeps): Promise<Verification> {
  const { content, remoteIp, helo, mailFrom } = mail
  const verdicts = await authenticator.authenticate({ content, remoteIp, helo, mailFrom })
  return { verdicts, isResolverUnavailable: hasDnsError(verdicts) && !(await canary()) }
}

function hasDnsError({ spf, dkim, dmarc }: Verdicts): boolean {
  return [spf, dkim, dmarc].some(verdict => verdict.result === 'temperror')
}
