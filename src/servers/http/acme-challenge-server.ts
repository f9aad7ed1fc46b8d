import type { Endpoint } from '../../base/config/config.ts'
import type { Log } from '../../base/observability/log.ts'

export interface AcmeChallengeServerDeps {
  readonly listen: Endpoint
  /** What is to be found under a token; undefined: there is none such. */
  readonly findKeyAuthorization: (token: string) => Promise<string | undefined>
  readonly log: Log
}

const pathForm = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{1,128})$/
const idleSeconds = 10

/**
 * Opens the listener at which an ACME authority sees that a name is ours (HTTP-01, RFC 8555 §8.3). It answers nothing else.
 * All processes of a machine may listen at its one port: each knows all tokens.
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
      const token = pathForm.exec(new URL(request.url).pathname)?.[1]
      if (token === undefined || request.method !== 'GET') return notFound()
      try {
        const found = await findKeyAuthorization(token)
        return found === undefined
          ? notFound()
          : new Response(found, { headers: { 'content-type': 'application/octet-stream' } })
      } catch (error) {
        log.error({ err: error }, 'could not answer an ACME challenge')
        return new Response('Try again\n', { status: 503 })
      }
    },
  })
  return { port: server.port ?? listen.port, close: () => server.stop(true) }
}

function notFound(): Response {
  return new Response('Not found\n', { status: 404 })
}
