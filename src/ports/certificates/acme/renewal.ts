import { dayMs, hourMs, minuteMs } from '../../../base/clock.ts'

const firstRetryMs = 5 * minuteMs
const longestRetryMs = 12 * hourMs
const longestAskedMs = 7 * dayMs

/** When a certificate is renewed: at two thirds of its life, and up to a fiftieth of it later, so that not all are at once. */
export function renewalTime(life: { readonly notBefore: Date; readonly notAfter: Date }, random: number): Date {
  const begin = life.notBefore.getTime()
  const wholeMs = life.notAfter.getTime() - begin
  return new Date(begin + (wholeMs * 2) / 3 + (random * wholeMs) / 50)
}

/**
 * Wait after failure `n` (1-based), in milliseconds: 5 minutes, doubled each time, 12 hours at most, up to a quarter more.
 * That is four orders in the first hour, where authorities allow five failures of a name in one. What the authority asks
 * for (Retry-After) is waited as well, up to a week. RFC 8555 §6.6.
 */
export function retryDelayMs(failures: number, random: number, askedMs = 0): number {
  const usual = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(20, failures - 1))
  return Math.max(usual, Math.min(longestAskedMs, askedMs)) * (1 + random / 4)
}
