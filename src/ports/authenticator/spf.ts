import { isIP } from 'node:net'
import { spf } from 'mailauth/lib/spf/index.js'
import type { MailauthResolve } from './dns-errors.ts'
import type { Authentication } from './port.ts'
import { type Checked, resultOf, whyItThrew } from './result.ts'

/** SPF of the reverse-path, or of the HELO name where that is null (RFC 7208 §2.4). Never throws. */
export async function checkSpf(what: Authentication, hostname: string, resolver: MailauthResolve): Promise<Checked> {
  const { mailFrom: sender, remoteIp: ip } = what
  const helo = isIP(what.helo) === 0 ? what.helo : `[${what.helo}]`
  try {
    const { domain, status } = await spf({ sender, ip, helo, mta: hostname, resolver, strict: true })
    const result = resultOf(status.result)
    const says = `${hostname}: `
    const detail = status.comment?.startsWith(says) ? status.comment.slice(says.length) : status.comment
    return { result, domain: domain === '-' ? null : domain, detail: detail ?? null }
  } catch (error) {
    return { result: 'temperror', domain: null, detail: whyItThrew(error) }
  }
}
