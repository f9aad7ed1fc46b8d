import { type Instant, instantAt } from '../base/clock.ts'

const zone = /(?:[+-]\d{4}|\b(?:UTC?|GMT|Z|[ECMP][SD]T))$/i
const maxLength = 100
const maxMs = 253_402_300_799_000

/** Parses the date-time of a header field (RFC 5322 §3.3, §4.3); null: it is not one, or has no zone. */
export function readDate(text: string): Instant | null {
  const value = text
    .slice(0, maxLength)
    .replace(/\([^()]*\)/g, ' ')
    .trim()
  if (!/^(?:[a-z]{3,9},?\s+)?\d{1,2}[\s-]/i.test(value) || !zone.test(value)) return null
  const ms = Date.parse(value)
  return Number.isNaN(ms) || ms < 0 || ms > maxMs ? null : instantAt(ms * 1000)
}

/** As in a Date field (RFC 5322 §3.3), in UTC: `Mon, 23 Nov 2026 10:00:00 +0000`. */
export function formatDate(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', '+0000')
}
