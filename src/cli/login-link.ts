import { type LoginLink, loginLinkUrl } from '../accounts/sessions/login-links.ts'
import { toIso } from '../base/clock.ts'
import { publicAddress } from '../base/config/public-address.ts'
import type { Environment } from './command.ts'
import { readCommandConfig } from './database.ts'

/** A login link as commands print it. */
export interface PrintedLink {
  /** With its expiry, for a person. */
  readonly text: string
  readonly json: { readonly link: string; readonly link_expires_at: string }
}

/** @param email whom it signs in */
export function printLink(env: Environment, email: string, link: LoginLink): PrintedLink {
  const url = loginLinkUrl(publicAddress(readCommandConfig(env)), link)
  const expiresAt = toIso(link.expiresAt)
  return {
    text: `This link signs ${email} in, once, until ${expiresAt.slice(0, 16).replace('T', ' ')} UTC:\n${url}`,
    json: { link: url, link_expires_at: expiresAt },
  }
}
