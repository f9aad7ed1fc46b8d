import { dayMs, hourMs, minuteMs } from '../../../base/clock.ts'

const firstRetryDelayMs = 5 * minuteMs
const maxRetryDelayMs = 12 * hourMs
const maxRetryAfterMs = 7 * dayMs

/**
 * When a certificate is renewed: after two thirds of its validity, plus up to a fiftieth of it, so that not all are renewed
 * at once.
 * @param random from 0 to 1
 */
export function renewalTime(validity: { readonly notBefore: Date; readonly notAfter: Date }, random: number): Date {
  const begin = validity.notBefore.getTime()
  const validityMs = validity.notAfter.getTime() - begin
  return new Date(begin + (validityMs * 2) / 3 + (random * validityMs) / 50)
}

/**
 * Delay after `failures` failures in a row, in milliseconds: 5 minutes, doubled each time, at most 12 hours, plus up to a
 * quarter. That is four orders in the first hour; authorities allow five failures of a name in an hour. A longer delay that
 * the authority asks for (Retry-After, RFC 8555 §6.6) is observed, up to a week.
 */
export function retryDelayMs(failures: number, random: number, retryAfterMs = 0): number {
  const delayMs = Math.min(maxRetryDelayMs, firstRetryDelayMs * 2 ** Math.min(20, failures - 1))
  return Math.max(delayMs, Math.min(maxRetryAfterMs, retryAfterMs)) * (1 + random / 4)
}
