import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { dayMs } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import type { SignInRequest } from './deps.ts'

const keptMs = 180 * dayMs
const form = /^(usr_[0-9a-z]{26})\.([\w-]{22})\.([\w-]{43})$/

type KnownBrowserCookie = Pick<SignInRequest, 'cookie' | 'setCookie' | 'isSecure'>

/**
 * Remembers that this person has signed in with this browser: a cookie that we have signed. It proves nothing but that. Guesses
 * of others at the person's password make everybody else wait, but not who has this cookie (the device cookies of OWASP's
 * "Slow Down Online Guessing Attacks").
 */
export function rememberBrowser(secrets: Secrets, browser: KnownBrowserCookie, userId: Id<'usr'>): void {
  const [key] = keysOf(secrets)
  if (!key) throw new Error('there is no secret key')
  const nonce = randomBytes(16).toString('base64url')
  const value = `${userId}.${nonce}.${sign(key, userId, nonce).toString('base64url')}`
  browser.setCookie(cookieName(browser), value, keptMs / 1000)
}

/** What tells this browser from others of the person; undefined: they have not signed in with it. */
export function knownBrowser(
  secrets: Secrets,
  browser: KnownBrowserCookie,
  userId: Id<'usr'> | undefined,
): string | undefined {
  const [, owner, nonce = '', signature = ''] = form.exec(browser.cookie(cookieName(browser)) ?? '') ?? []
  if (userId === undefined || owner !== userId) return undefined
  const presented = Buffer.from(signature, 'base64url')
  return keysOf(secrets).some(key => timingSafeEqual(presented, sign(key, userId, nonce))) ? nonce : undefined
}

function cookieName({ isSecure }: KnownBrowserCookie): string {
  return isSecure ? '__Host-mailroom-browser' : 'mailroom-browser'
}

function keysOf(secrets: Secrets): readonly Buffer[] {
  return secrets.derive('known browsers')
}

function sign(key: Buffer, userId: Id<'usr'>, nonce: string): Buffer {
  return createHmac('sha256', key).update(`${userId} ${nonce}`).digest()
}
