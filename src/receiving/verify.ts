import type { Authenticator, Verdicts } from '../ports/authenticator/port.ts'
import type { Canary } from '../ports/resolver/canary.ts'
import type { Incoming } from './incoming.ts'

export interface Verifying {
  readonly authenticator: Authenticator
  readonly canary: Canary
}

export interface Verified {
  readonly verdicts: Verdicts
  /** DNS trouble hid a result, and it is not the sender's: our own servers answer nothing. */
  readonly isResolverAway: boolean
}

/** Who sent it, as far as SPF, DKIM, DMARC and ARC tell. */
export async function verify(mail: Incoming, { authenticator, canary }: Verifying): Promise<Verified> {
  const { content, remoteIp, helo, mailFrom } = mail
  const verdicts = await authenticator.authenticate({ content, remoteIp, helo, mailFrom })
  return { verdicts, isResolverAway: metDnsTrouble(verdicts) && !(await canary()) }
}

function metDnsTrouble({ spf, dkim, dmarc }: Verdicts): boolean {
  return [spf, dkim, dmarc].some(each => each.result === 'temperror')
}
