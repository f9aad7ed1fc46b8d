import { isIP } from 'node:net'
import { type Refusal, refuse } from '../../base/refusal.ts'

const loopback: readonly string[] = ['localhost', 'ip6-localhost']

/** The refusals of {@link hostCheck}. */
export const hostRefusals = ['origin_not_allowed'] as const

/**
 * Keeps web pages of others out (DNS rebinding): a page that a browser loaded under some name of its own cannot speak to
 * us under that name. Names of ours are allowed, and bare addresses, which no page can be rebound to.
 * Model Context Protocol, Transports, "Security Warning".
 * @param names host names of this Mailroom
 * @param origins further origins, `https://app.example`, whose pages may call
 */
export function hostCheck(names: readonly string[], origins: readonly string[]) {
  const known = new Set([...names, ...loopback].map(name => name.toLowerCase()))
  const isOurs = (hostname: string) => known.has(hostname) || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  const allowed = new Set(origins.map(origin => origin.toLowerCase()))

  return (headers: Headers): Refusal | undefined => {
    const host = hostnameOf(`http://${headers.get('host') ?? ''}`)
    if (host === undefined || !isOurs(host)) return notAllowed('Host', headers.get('host'))
    const origin = headers.get('origin')
    if (origin === null || allowed.has(origin.toLowerCase())) return undefined
    const from = hostnameOf(origin)
    return from !== undefined && isOurs(from) ? undefined : notAllowed('Origin', origin)
  }
}

function hostnameOf(url: string): string | undefined {
  return URL.parse(url)?.hostname.toLowerCase() || undefined
}

function notAllowed(header: string, value: string | null): Refusal {
  return refuse('origin_not_allowed', {
    message: `The ${header} ${JSON.stringify((value ?? '').slice(0, 100))} is not one of this server.`,
    param: header,
    resolution: 'Call under the name in MAILROOM_PUBLIC_URL, or add the origin to MAILROOM_MCP_ORIGINS.',
  })
}
