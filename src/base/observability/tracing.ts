/** The attributes of a span: ids, counts, codes; never an address, a subject or a key. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** Adds attributes to a span while it runs. */
export type SetSpanAttributes = (attributes: SpanAttributes) => void

/** A span of a trace that is about to start. */
export interface SpanOptions {
  readonly name: string
  /** `server`: a client sent a request and waits for the response. `work`: anything else. */
  readonly kind: 'server' | 'work'
  readonly attributes: SpanAttributes
  /** The client's `traceparent` header (W3C Trace Context); absent: a new trace begins. */
  readonly traceparent?: string | undefined
}

/** Creates spans; implemented in otlp.ts. */
export interface Tracer {
  trace<Result>(span: SpanOptions, run: (setAttributes: SetSpanAttributes) => Promise<Result>): Promise<Result>
  /** Runs a step as a child of the current span; outside a span it creates none. */
  step<Result>(name: string, run: () => Promise<Result>): Promise<Result>
}

let tracer: Tracer | undefined

/** Traces all following work with this tracer; undefined: stops tracing. */
export function setTracer(newTracer: Tracer | undefined): void {
  tracer = newTracer
}

const ignore: SetSpanAttributes = () => undefined

/** Runs a piece of work, as a span while tracing is on. */
export function traced<Result>(
  span: SpanOptions,
  run: (setAttributes: SetSpanAttributes) => Promise<Result>,
): Promise<Result> {
  return tracer ? tracer.trace(span, run) : run(ignore)
}

/** Runs a step of traced work. */
export function tracedStep<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  return tracer ? tracer.step(name, run) : run()
}
