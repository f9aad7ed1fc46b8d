/** Emails that left in a time, and those of them that bounced. */
export interface BounceSample {
  readonly sent: number
  readonly bounced: number
}

const leastBounced = 5
const leastPercent = 2
const criticalPercent = 5
const timesTheUsual = 2

/**
 * Are more emails bouncing than usual? From five bounces and 2 % on, when that is at least twice the share of the days
 * before; critical from 5 % on, about where providers suspend accounts. null: no. Pure.
 */
export function bounceLevel(now: BounceSample, usual: BounceSample): 'warning' | 'critical' | null {
  const percent = bouncePercent(now)
  if (now.bounced < leastBounced || percent < leastPercent) return null
  if (percent < timesTheUsual * bouncePercent(usual)) return null
  return percent >= criticalPercent ? 'critical' : 'warning'
}

/** In percent of what was sent. */
export function bouncePercent({ sent, bounced }: BounceSample): number {
  return sent === 0 ? 0 : (bounced * 100) / sent
}
