import { isIP } from 'node:net'
import { type Refusal, refuse } from '../../base/refusal.ts'

const loopback: readonly string[] = ['localhost', 'ip6-localhost']

/** The refusals of {@link hostCheck}. */
export const hostRefusals = ['origin_not_allowed'] as const

/**
 * Protects against DNS rebinding: a web page of another site cannot send requests under its own host name. Our host names
 * are allowed, and IP addresses, which cannot be rebound.
 * Model Context Protocol, Transports, "Security Warning".
 * @param names host names of this server
 * @param origins further origins, `https://app.example`, whose pages may call
 */
export function hostCheck(names: readonly string[], origins: readonly string[]) {
  const ownNames = new Set([...names, ...loopback].map(name => name.toLowerCase()))
  const isAllowedHost = (hostname: string) => ownNames.has(hostname) || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  const allowedOrigins = new Set(origins.map(origin => origin.toLowerCase()))

  return (headers: Headers): Refusal | undefined => {
    const host = hostnameOf(`http://${headers.get('host') ?? ''}`)
    if (host === undefined || !isAllowedHost(host)) return notAllowed('Host', headers.get('host'))
    const origin = headers.get('origin')
    if (origin === null || allowedOrigins.has(origin.toLowerCase())) return undefined
    const from = hostnameOf(origin)
    return from !== undefined && isAllowedHost(from) ? undefined : notAllowed('Origin', origin)
  }
}

function hostnameOf(url: string): string | undefined {
  return URL.parse(url)?.hostname.toLowerCase() || undefined
}

function notAllowed(header: string, value: string | null): Refusal {
  return refuse('origin_not_allowed', {
    message: `The ${header} ${JSON.stringify((value ?? '').slice(0, 100))} is not allowed on this server.`,
    param: header,
    resolution: 'Use the host name of MAILROOM_PUBLIC_URL, or add the origin to MAILROOM_MCP_ORIGINS.',
  })
}
