/** What the lamps of the status strip say. `count` is written out: "10,000+", "83 %". */
export const lampStrings: Readonly<Record<string, (count: string, isOne: boolean) => string>> = {
  domains_not_ready: (count, isOne) => `${count} ${isOne ? 'domain' : 'domains'} not ready`,
  emails_unconfirmed: (count, isOne) => `${count} ${isOne ? 'email' : 'emails'} unconfirmed`,
  bounces_high: count => `${count} bounced in 24 h, above the usual`,
  quarantine_waiting: count => `${count} in quarantine`,
  brands_paused: (count, isOne) => `${count} ${isOne ? 'brand' : 'brands'} paused`,
  webhooks_disabled: (count, isOne) => `${count} ${isOne ? 'webhook' : 'webhooks'} disabled`,
  quota_high: count => `${count} of this month’s quota used`,
  doctor_findings: (count, isOne) => `${count} ${isOne ? 'finding' : 'findings'} of doctor`,
  queue_waiting: () => 'Queue waits, the oldest due',
  relay_breaker_open: () => 'Relay submits nothing',
  disk_full_soon: (count, isOne) => `Disk full in ${count} ${isOne ? 'day' : 'days'}`,
  certificate_expiring: (count, isOne) => `Certificate expires in ${count} ${isOne ? 'day' : 'days'}`,
  restore_unproven: count => (count === '0' ? 'No backup proven' : `No backup proven for ${count} days`),
  other_versions: (count, isOne) => `${count} ${isOne ? 'process' : 'processes'} of another version`,
}

export const statusStrings = {
  label: 'Needs attention',
  levels: { notice: 'Notice', warning: 'Warning', critical: 'Critical' },
  since: 'since',
  /** A lamp that a newer server has and this page does not know. */
  unknown: (name: string, count: string) => `${name.replaceAll('_', ' ')}: ${count}`,
} as const
