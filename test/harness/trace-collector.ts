/** A span of OTLP/JSON. */
export interface CollectedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  /** Absent: it is the root of the trace. */
  readonly parentSpanId?: string
  readonly attributes: Readonly<Record<string, unknown>>
  /** 2: error. */
  readonly status: number
}

/** An OpenTelemetry collector on loopback that records spans. */
export interface TraceCollector {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** The bodies of all requests. */
  readonly bodies: readonly string[]
  readonly headers: readonly Headers[]
  stop(): Promise<void>
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

// biome-ignore lint/suspicious/noExplicitAny: the nested form of OTLP is only read here
function spansIn(body: any): readonly CollectedSpan[] {
  return body.resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: object[] }[] }) =>
    scopeSpans.flatMap(({ spans }) =>
      // biome-ignore lint/suspicious/noExplicitAny: as above
      spans.map((span: any) => ({
        ...span,
        attributes: Object.fromEntries(
          span.attributes.map(({ key, value }: Attribute) => [key, Object.values(value)[0]]),
        ),
        status: span.status?.code ?? 0,
      })),
    ),
  )
}

/** Starts a collector for requests to /v1/traces. */
export function startTraceCollector(): TraceCollector {
  const spans: CollectedSpan[] = []
  const bodies: string[] = []
  const headers: Headers[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (request.method !== 'POST' || new URL(request.url).pathname !== '/v1/traces')
        return new Response(null, { status: 404 })
      const body = await request.text()
      bodies.push(body)
      headers.push(request.headers)
      spans.push(...spansIn(JSON.parse(body)))
      return Response.json({})
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, spans, bodies, headers, stop: () => server.stop(true) }
}
