/** One measurement: a rate, and what it is held against. */
export interface Figure {
  readonly name: string
  /** A second. */
  readonly rate: number
  /** The raw limits of the same run, a second; the slowest is the one that counts. */
  readonly limits: Readonly<Record<string, number>>
  /** Of the slowest limit. */
  readonly ratio: number
  /** The ratio that is to be reached. */
  readonly wanted: number
  readonly peakBytes: number
  /** What else the run showed, for a person. */
  readonly note?: string
}

export function figure(
  name: string,
  wanted: number,
  measured: { readonly rate: number; readonly limits: Readonly<Record<string, number>>; readonly peakBytes: number },
): Figure {
  return { name, wanted, ...measured, ratio: measured.rate / Math.min(...Object.values(measured.limits)) }
}

/** The middle one; of an even count the lower of the two. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN
}

export function describeFigure({ name, rate, limits, ratio, wanted, peakBytes, note }: Figure): string {
  const percent = (part: number) => `${Math.round(part * 100)} %`
  const raw = Object.entries(limits).map(([limit, each]) => `${limit} ${Math.round(each)}`)
  return (
    `${name}: ${Math.round(rate)} a second, ${percent(ratio)} of the limit (wanted ${percent(wanted)})\n` +
    `  limits: ${raw.join(', ')} a second; peak memory ${Math.round(peakBytes / 1024 / 1024)} MB` +
    (note === undefined ? '' : `\n  ${note}`)
  )
}
