import { until } from './until.ts'

/** A delivery as the receiver got it. */
export interface PlainDelivery {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly event: { readonly id: string; readonly type: string }
}

/** A receiver of webhooks on this machine that takes plain http, and anything. */
export interface PlainReceiver {
  readonly url: string
  readonly deliveries: readonly PlainDelivery[]
  /** What it answers from now on. */
  answerWith(status: number): void
  /** The first delivery of this type from the `from`th on. */
  next(type: string, from?: number): Promise<PlainDelivery>
  stop(): Promise<void>
}

/** Listens on a free port, and answers 204 until it is told otherwise. */
export function startPlainReceiver(): PlainReceiver {
  const deliveries: PlainDelivery[] = []
  let status = 204
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.text()
      const headers = Object.fromEntries(request.headers)
      deliveries.push({ id: headers['webhook-id'] ?? '', headers, body, event: JSON.parse(body) })
      return new Response(status === 204 ? null : `status ${status}`, { status })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/mailroom`,
    deliveries,
    answerWith(next) {
      status = next
    },
    next: (type, from = 0) =>
      until(() => deliveries.slice(from).find(({ event }) => event.type === type), {
        what: `${type} is delivered`,
        details: () => deliveries.map(({ event }) => event.type).join(' '),
      }),
    stop: () => server.stop(true),
  }
}
