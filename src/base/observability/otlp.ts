import {
  type Context,
  context,
  DiagLogLevel,
  diag,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { version } from '../version.ts'
import type { Log } from './log.ts'
import { type SpanAttributes, type SpanOptions, setTracer, type Tracer } from './tracing.ts'

export interface TracingOptions {
  /** The URL of the collector, such as `http://127.0.0.1:4318`, without `/v1/traces`. */
  readonly endpoint: string
  /** The share of traces that are exported, chosen by their id. */
  readonly samplePercent: number
  /** The hostname of this instance. */
  readonly host: string
  readonly log: Log
}

const exportTimeoutMs = 5000
const warnEveryMs = 60_000

/**
 * Starts exporting traces by OTLP over HTTP (JSON). Mail never waits for it: what the collector does not accept in time is
 * dropped. Gives the function that stops it, within five seconds.
 */
export function startTracing({ endpoint, samplePercent, host, log }: TracingOptions): () => Promise<void> {
  const ratio = new TraceIdRatioBasedSampler(samplePercent / 100)
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'mailroom', 'service.version': version, 'host.name': host }),
    // A client's request may continue its trace, but our own ratio decides how much is exported.
    sampler: new ParentBasedSampler({ root: ratio, remoteParentSampled: ratio }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url, timeoutMillis: exportTimeoutMs }),
        exportTimeoutMillis: exportTimeoutMs,
        scheduledDelayMillis: 1000,
        maxQueueSize: 4096,
      }),
    ],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  diag.setLogger(diagnosticLogger(log), DiagLogLevel.WARN)
  setTracer(newTracer(provider))
  return async () => {
    setTracer(undefined)
    await Promise.race([provider.shutdown().catch(() => undefined), Bun.sleep(exportTimeoutMs)])
    context.disable()
    diag.disable()
  }
}

function newTracer(provider: TracerProvider): Tracer {
  const spans = provider.getTracer('mailroom', version)

  async function within<Result>(span: Span, at: Context, run: () => Promise<Result>): Promise<Result> {
    try {
      return await context.with(trace.setSpan(at, span), run)
    } catch (error) {
      // Only the name: the message may hold addresses. The log has it.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'Error' })
      throw error
    } finally {
      span.end()
    }
  }

  return {
    trace({ name, kind, attributes, traceparent }: SpanOptions, run) {
      const at = parentIn(context.active(), traceparent)
      const spanKind = kind === 'server' ? SpanKind.SERVER : SpanKind.INTERNAL
      const span = spans.startSpan(name, { kind: spanKind, attributes: withoutUndefined(attributes) }, at)
      return within(span, at, () => run(added => span.setAttributes(withoutUndefined(added))))
    },
    step(name, run) {
      const at = context.active()
      return trace.getSpan(at) === undefined ? run() : within(spans.startSpan(name, {}, at), at, run)
    },
  }
}

/** The context with the span that `traceparent` names (W3C Trace Context §3.2) as parent, where it names one. */
function parentIn(at: Context, traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent)
  return parent === null ? at : trace.setSpanContext(at, { ...parent, isRemote: true })
}

function withoutUndefined(attributes: SpanAttributes): Record<string, string | number | boolean> {
  const pairs = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  )
  return Object.fromEntries(pairs)
}

/** Logs the export failures, at most one a minute. */
function diagnosticLogger(log: Log) {
  let nextAt = 0
  const warn = (reason: string) => {
    if (performance.now() < nextAt) return
    nextAt = performance.now() + warnEveryMs
    log.warn({ reason: reason.slice(0, 500) }, 'traces were not sent')
  }
  const ignore = () => undefined
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore }
}
