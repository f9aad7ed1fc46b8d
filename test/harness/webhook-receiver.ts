import { Webhook } from 'standardwebhooks'
import type { TestAuthority } from './certificates.ts'
import { until } from './until.ts'

/** A delivery as a receiver got it; its signature was verified by the package `standardwebhooks`. */
export interface ReceivedDelivery {
  readonly id: string
  readonly path: string
  readonly host: string
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
  readonly event: any
  readonly atMs: number
}

type Respond = (delivery: ReceivedDelivery) => Response | Promise<Response>

/** An HTTPS server on loopback that takes webhooks. */
export interface WebhookReceiver {
  readonly port: number
  /** `https://<name>:<port>`. */
  readonly url: string
  /** Verified deliveries, in order. */
  readonly deliveries: ReceivedDelivery[]
  /** Requests whose signature no secret verified. */
  readonly unverified: string[]
  /** Deliveries must verify with one of these. */
  secrets: readonly string[]
  /** Deliveries to these paths must verify with this one. */
  readonly secretOfPath: Map<string, string>
  respond: Respond
  /** The most requests that were open at once. */
  readonly mostOpen: number
  /** Resolves once so many deliveries have come. */
  received(count: number, withinMs?: number): Promise<readonly ReceivedDelivery[]>
  close(): Promise<void>
}

/** @param name the host name in its URL and its certificate */
export function startWebhookReceiver(authority: TestAuthority, name: string, respond: Respond = ok): WebhookReceiver {
  const pair = authority.issue([name])
  const deliveries: ReceivedDelivery[] = []
  const unverified: string[] = []
  let open = 0
  let mostOpen = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: pair.chain, key: pair.key },
    idleTimeout: 60,
    async fetch(request) {
      open++
      mostOpen = Math.max(mostOpen, open)
      try {
        const body = await request.text()
        const { pathname } = new URL(request.url)
        const event = verify(pathname, body, request.headers)
        if (event === undefined) {
          unverified.push(body)
          return new Response('bad signature', { status: 401 })
        }
        const { headers } = request
        const id = headers.get('webhook-id') ?? ''
        const delivery = {
          id,
          path: pathname,
          host: headers.get('host') ?? '',
          headers,
          event,
          atMs: performance.now(),
        }
        deliveries.push(delivery)
        return await receiver.respond(delivery)
      } finally {
        open--
      }
    },
  })

  function verify(path: string, body: string, headers: Headers): unknown {
    const ofPath = receiver.secretOfPath.get(path)
    for (const secret of ofPath === undefined ? receiver.secrets : [ofPath])
      try {
        return new Webhook(secret).verify(body, Object.fromEntries(headers))
      } catch {
        // Another secret may have signed it.
      }
    return undefined
  }

  const receiver: WebhookReceiver = {
    port: server.port ?? 0,
    url: `https://${name}:${server.port}`,
    deliveries,
    unverified,
    secrets: [],
    secretOfPath: new Map(),
    respond,
    get mostOpen() {
      return mostOpen
    },
    received: (count, withinMs = 20_000) =>
      until(() => deliveries.length >= count && deliveries, {
        what: `${count} deliveries`,
        withinMs,
        details: () => `${deliveries.length} came, ${unverified.length} were not verified`,
      }),
    close: () => server.stop(true),
  }
  return receiver
}

function ok(): Response {
  return new Response('thanks')
}
