/** What a span says of itself: ids, counts, codes; never an address, a subject or a key. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** Adds facts to the span that it was given for. */
export type SetSpanAttributes = (facts: SpanAttributes) => void

/** A piece of work that is a span of a trace. */
export interface SpanOptions {
  readonly name: string
  /** `server`: somebody asked for it and waits for the answer. */
  readonly kind: 'server' | 'work'
  readonly attributes: SpanAttributes
  /** The header `traceparent` of who asked for it (W3C Trace Context); absent: the trace begins here. */
  readonly traceparent?: string | undefined
}

/** Makes spans; see otlp.ts. */
export interface Tracer {
  trace<Result>(span: SpanOptions, run: (note: SetSpanAttributes) => Promise<Result>): Promise<Result>
  /** A span below the one that this is done in; where there is none, no span. */
  step<Result>(name: string, run: () => Promise<Result>): Promise<Result>
}

let tracer: Tracer | undefined

/** From now on work is traced; undefined: no more. */
export function setTracer(made: Tracer | undefined): void {
  tracer = made
}

const nothing: SetSpanAttributes = () => undefined

/** Runs a piece of work, as a span where work is traced. */
export function traced<Result>(span: SpanOptions, run: (note: SetSpanAttributes) => Promise<Result>): Promise<Result> {
  return tracer ? tracer.trace(span, run) : run(nothing)
}

/** Runs a step of such a piece. */
export function tracedStep<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  return tracer ? tracer.step(name, run) : run()
}
