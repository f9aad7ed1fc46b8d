/** What the lamps of the status strip say. `count` is written out: "10,000+", "83 %". */
export const lampStrings: Readonly<Record<string, (count: string, isOne: boolean) => string>> = {
  domains_not_ready: (count, isOne) => `${count} ${isOne ? 'domain' : 'domains'} not ready`,
  emails_unconfirmed: (count, isOne) => `${count} ${isOne ? 'email' : 'emails'} unconfirmed`,
  bounces_high: count => `${count} bounced in 24 h, above the usual`,
  quarantine_waiting: count => `${count} in quarantine`,
  brands_paused: (count, isOne) => `${count} ${isOne ? 'brand' : 'brands'} paused`,
  quota_high: count => `${count} of this month’s quota used`,
}

export const statusStrings = {
  label: 'Needs attention',
  levels: { notice: 'Notice', warning: 'Warning', critical: 'Critical' },
  since: 'since',
  /** A lamp that a newer server has and this page does not know. */
  unknown: (name: string, count: string) => `${name.replaceAll('_', ' ')}: ${count}`,
} as const
