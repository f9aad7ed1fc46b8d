declare const instant: unique symbol

/**
 * A point in time in UTC, to the microsecond, as the database reads and writes it: `YYYY-MM-DD HH:MM:SS.ffffff`. Instants
 * sort as text.
 */
export type Instant = string & { readonly [instant]: true }

export const secondMs = 1000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** Where time comes from. Tests pass a clock that they can set. */
export interface Clock {
  now(): Instant
}

/** The text of the last millisecond that was formatted: most calls come within the same one. */
let lastMs = 0
let lastText = '1970-01-01 00:00:00.000'

/** Microseconds since 1970 as an {@link Instant}. */
export function instantAt(microseconds: number): Instant {
  const ms = Math.floor(microseconds / 1000)
  if (ms !== lastMs) {
    const iso = new Date(ms).toISOString()
    lastText = `${iso.slice(0, 10)} ${iso.slice(11, 23)}`
    lastMs = ms
  }
  const fraction = microseconds - ms * 1000
  return `${lastText}${fraction < 10 ? '00' : fraction < 100 ? '0' : ''}${fraction}` as Instant
}

/** Microseconds since 1970. */
export function microsecondsOf(at: Instant): number {
  const ms = at.startsWith(lastText) ? lastMs : Date.parse(`${at.slice(0, 10)}T${at.slice(11, 23)}Z`)
  return ms * 1000 + Number(at.slice(23))
}

/** Milliseconds since 1970, rounded down. */
export function millisecondsOf(at: Instant): number {
  return Math.floor(microsecondsOf(at) / 1000)
}

/** The instant `ms` milliseconds after (or, negative, before) `at`. */
export function plusMs(at: Instant, ms: number): Instant {
  return instantAt(microsecondsOf(at) + Math.round(ms * 1000))
}

/** ISO 8601 in UTC with six decimals, as in the API: `2026-01-31T08:15:00.000001Z`. */
export function toIso(at: Instant): string {
  return `${at.slice(0, 10)}T${at.slice(11)}Z`
}

const isoPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(Z|[+-]\d\d:\d\d)$/

/** Parses an ISO 8601 date-time with an offset; undefined for anything else. Digits past the microsecond are dropped. */
export function fromIso(text: string): Instant | undefined {
  const match = isoPattern.exec(text)
  if (!match) return undefined
  const [, seconds, fraction = '', offset] = match
  const ms = Date.parse(`${seconds}${offset}`)
  if (Number.isNaN(ms) || ms < 0 || ms > 253_402_300_799_000) return undefined
  // JavaScript takes February 30 as March 2, and 24:00 as the next day.
  if (!new Date(`${seconds}Z`).toISOString().startsWith(seconds ?? '')) return undefined
  return instantAt(ms * 1000 + Number(fraction.padEnd(6, '0')))
}

/** The machine's clock. No two calls give the same instant, unless the machine's time goes back by a second or more. */
export const systemClock: Clock = (() => {
  let last = 0
  return {
    now() {
      const now = Date.now() * 1000
      last = now > last || now < last - 1_000_000 ? now : last + 1
      return instantAt(last)
    },
  }
})()
