import { Elysia } from 'elysia'
import type { Db } from '../../base/database/database.ts'
import { canonicalDomain } from '../../mail/address.ts'
import { policyHost, policyText } from './mta-sts.ts'
import { selectPolicy } from './table.ts'

const hostForm = /^mta-sts\.(.+?)\.?(?::\d{1,5})?$/i

/**
 * `/.well-known/mta-sts.txt` of each domain with a policy, selected by the Host header: over our own HTTPS, or through a
 * reverse proxy that passes Host on. RFC 8461 §3.3.
 * @param deps `mx`: our host name in MX records
 */
export function mtaStsRoutes({ db, mx }: { readonly db: Db; readonly mx: string }) {
  return new Elysia({ name: 'mta-sts' }).get('/.well-known/mta-sts.txt', async ({ request, status }) => {
    const domain = policyDomainOf(request.headers.get('host') ?? '')
    const policy = domain === undefined ? undefined : await selectPolicy(db, domain)
    if (!policy) return status(404, 'There is no policy for this host.\n')
    return new Response(policyText(policy.mode, mx), { headers: { 'content-type': 'text/plain' } })
  })
}

function policyDomainOf(host: string): string | undefined {
  const domain = canonicalDomain(hostForm.exec(host)?.[1] ?? '')
  return domain !== undefined && policyHost(domain).length <= 253 ? domain : undefined
}
