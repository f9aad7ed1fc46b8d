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
  /** Of the collector, as `http://127.0.0.1:4318`; `/v1/traces` is added. */
  readonly endpoint: string
  /** Of the traces, chosen by their id. */
  readonly samplePercent: number
  /** Our name. */
  readonly host: string
  readonly log: Log
}

const exportTimeoutMs = 5000
const complaintEveryMs = 60_000

/**
 * Sends traces by OTLP over HTTP (JSON) from now on. What the collector does not take in time is lost, and mail does not
 * wait for it. Gives what ends it, within five seconds.
 */
export function startTracing({ endpoint, samplePercent, host, log }: TracingOptions): () => Promise<void> {
  const ratio = new TraceIdRatioBasedSampler(samplePercent / 100)
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'mailroom', 'service.version': version, 'host.name': host }),
    // Who asks may join a trace of theirs; how much is traced is ours to say.
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
      // What the error says may hold addresses; the log has it.
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
      const span = spans.startSpan(name, { kind: spanKind, attributes: known(attributes) }, at)
      return within(span, at, () => run(more => span.setAttributes(known(more))))
    },
    step(name, run) {
      const at = context.active()
      return trace.getSpan(at) === undefined ? run() : within(spans.startSpan(name, {}, at), at, run)
    },
  }
}

/** `at`, with the span that `traceparent` names (W3C Trace Context §3.2) as the parent of what comes, where it names one. */
function parentIn(at: Context, traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent)
  return parent === null ? at : trace.setSpanContext(at, { ...parent, isRemote: true })
}

function known(facts: SpanAttributes): Record<string, string | number | boolean> {
  const pairs = Object.entries(facts).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
  return Object.fromEntries(pairs)
}

/** The first of what goes wrong in a minute is said. */
function diagnosticLogger(log: Log) {
  let nextAt = 0
  const complain = (reason: string) => {
    if (performance.now() < nextAt) return
    nextAt = performance.now() + complaintEveryMs
    log.warn({ reason: reason.slice(0, 500) }, 'traces were not sent')
  }
  const quiet = () => undefined
  return { error: complain, warn: complain, info: quiet, debug: quiet, verbose: quiet }
}
