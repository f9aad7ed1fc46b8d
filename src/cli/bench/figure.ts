/** One measurement: a rate, and the raw limits that it is compared with. */
export interface Figure {
  readonly name: string
  /** Per second. */
  readonly rate: number
  /** The raw limits of the same run, per second; the slowest one counts. */
  readonly limits: Readonly<Record<string, number>>
  /** The rate divided by the slowest limit. */
  readonly ratio: number
  /** The target for the ratio. */
  readonly wanted: number
  readonly peakBytes: number
  /** CPU time of each process for one of what `rate` counts, in milliseconds. */
  readonly cpuMs?: Readonly<Record<string, number>>
  /** More results of the run, for people. */
  readonly note?: string
}

export function figure(
  name: string,
  wanted: number,
  measured: Pick<Figure, 'rate' | 'limits' | 'peakBytes' | 'cpuMs'>,
): Figure {
  return { name, wanted, ...measured, ratio: measured.rate / Math.min(...Object.values(measured.limits)) }
}

/** The CPU time for each of `count`. */
export function perItem(cpuMs: Readonly<Record<string, number>>, count: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(cpuMs).map(([process, ms]) => [process, ms / count]))
}

/** The median; for an even count the lower of the two middle values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN
}

export function describeFigure({ name, rate, limits, ratio, wanted, peakBytes, cpuMs = {}, note }: Figure): string {
  const percent = (part: number) => `${Math.round(part * 100)} %`
  const cpu = Object.entries(cpuMs).map(([process, ms]) => `${process} ${ms.toPrecision(2)} ms`)
  const raw = Object.entries(limits).map(([limit, rate]) => `${limit} ${Math.round(rate)}`)
  return (
    `${name}: ${Math.round(rate)} per second, ${percent(ratio)} of the limit (target ${percent(wanted)})\n` +
    `  limits: ${raw.join(', ')} per second; peak memory ${Math.round(peakBytes / 1024 / 1024)} MB` +
    (cpu.length === 0 ? '' : `\n  CPU for each: ${cpu.join(', ')}`) +
    (note === undefined ? '' : `\n  ${note}`)
  )
}
