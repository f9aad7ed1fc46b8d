import { isIP } from 'node:net'
import { spf } from 'mailauth/lib/spf/index.js'
import type { MailauthResolve } from './mailauth-resolver.ts'
import type { AuthenticationInput } from './port.ts'
import { type CheckResult, describeException, toAuthResult } from './result.ts'

/** SPF of the reverse-path, or of the HELO name where that is null (RFC 7208 §2.4). Never throws. */
export async function checkSpf(
  what: AuthenticationInput,
  hostname: string,
  resolver: MailauthResolve,
): Promise<CheckResult> {
  const { mailFrom: sender, remoteIp: ip } = what
  const helo = isIP(what.helo) === 0 ? what.helo : `[${what.helo}]`
  try {
    const { domain, status } = await spf({ sender, ip, helo, mta: hostname, resolver, strict: true })
    const result = toAuthResult(status.result)
    const says = `${hostname}: `
    const detail = status.comment?.startsWith(says) ? status.comment.slice(says.length) : status.comment
    return { result, domain: domain === '-' ? null : domain, detail: detail ?? null }
  } catch (error) {
    return { result: 'temperror', domain: null, detail: describeException(error) }
  }
}
