import type { Authenticator, Verdicts } from '../ports/authenticator/port.ts'
import type { Incoming } from './incoming.ts'

/** Who sent it, as far as SPF, DKIM, DMARC and ARC tell. */
export function verify(mail: Incoming, authenticator: Authenticator): Promise<Verdicts> {
  const { content, remoteIp, helo, mailFrom } = mail
  return authenticator.authenticate({ content, remoteIp, helo, mailFrom })
}
