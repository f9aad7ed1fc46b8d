import type { Endpoint } from '../../base/config/config.ts'
import type { Log } from '../../base/observability/log.ts'

export interface AcmeChallengeServerDeps {
  readonly listen: Endpoint
  /** The key authorization of a token; undefined: no order has this token. */
  readonly findKeyAuthorization: (token: string) => Promise<string | undefined>
  readonly log: Log
}

const challengePath = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{1,128})$/
const idleSeconds = 10

/**
 * Listens for HTTP-01 challenges, by which an ACME authority validates that a name is ours (RFC 8555 §8.3), and answers
 * nothing else. All processes of a machine may listen on the one port: each of them finds every token.
 */
export function openAcmeChallengeServer({ listen, findKeyAuthorization, log }: AcmeChallengeServerDeps): {
  readonly port: number
  close(): Promise<void>
} {
  const server = Bun.serve({
    hostname: listen.host,
    port: listen.port,
    reusePort: true,
    development: false,
    idleTimeout: idleSeconds,
    maxRequestBodySize: 0,
    async fetch(request) {
      const token = challengePath.exec(new URL(request.url).pathname)?.[1]
      if (token === undefined || request.method !== 'GET') return notFound()
      try {
        const keyAuthorization = await findKeyAuthorization(token)
        return keyAuthorization === undefined
          ? notFound()
          : new Response(keyAuthorization, { headers: { 'content-type': 'application/octet-stream' } })
      } catch (error) {
        log.error({ err: error }, 'ACME challenge not answered: its token could not be looked up')
        return new Response('Try again\n', { status: 503 })
      }
    },
  })
  return { port: server.port ?? listen.port, close: () => server.stop(true) }
}

function notFound(): Response {
  return new Response('Not found\n', { status: 404 })
}
