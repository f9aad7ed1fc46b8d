import { isIP } from 'node:net'
import { spf } from 'mailauth/lib/spf/index.js'
import type { AuthenticationInput } from '../port.ts'
import type { MailauthResolve } from './resolver.ts'
import { type CheckResult, describeException, toAuthResult } from './result.ts'

/**
 * Checks SPF of the reverse-path, or of the HELO name if that is null (RFC 7208 §2.4). Never rejects.
 * @param maxVoidLookups look-ups that may find nothing (§4.6.4); 2 by default
 */
export async function checkSpf(
  input: Pick<AuthenticationInput, 'mailFrom' | 'remoteIp' | 'helo'>,
  hostname: string,
  resolver: MailauthResolve,
  maxVoidLookups = 2,
): Promise<CheckResult> {
  const { mailFrom: sender, remoteIp: ip } = input
  const helo = isIP(input.helo) === 0 ? input.helo : `[${input.helo}]`
  try {
    const { domain, status } = await spf({
      sender,
      ip,
      helo,
      mta: hostname,
      resolver,
      strict: true,
      maxVoidCount: maxVoidLookups,
    })
    const result = toAuthResult(status.result)
    const prefix = `${hostname}: `
    const detail = status.comment?.startsWith(prefix) ? status.comment.slice(prefix.length) : status.comment
    return { result, domain: domain === '-' ? null : domain, detail: detail ?? null }
  } catch (error) {
    return { result: 'temperror', domain: null, detail: describeException(error) }
  }
}
