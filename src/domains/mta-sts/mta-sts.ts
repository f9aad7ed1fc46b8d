import { type Clock, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { newSortableToken } from '../../base/ids.ts'
import { type MtaStsPolicyRow, selectPolicy, selectPolicyDomains, upsertPolicy } from './table.ts'

export type MtaStsMode = MtaStsPolicyRow['mode']

const day = 86_400

/** How long senders keep a policy, in seconds: one that only tests, or ends the last one, is soon asked for again. */
const maxAgeSeconds: Readonly<Record<MtaStsMode, number>> = { none: day, testing: day, enforce: 7 * day }

/** Where senders look for the policy of a domain (RFC 8461 §3.3). */
export function policyHost(domain: string): string {
  return `mta-sts.${domain}`
}

/** The policy as it is served (RFC 8461 §3.2). `mx` is the host that all MX records of the domain name. */
export function policyText(mode: MtaStsMode, mx: string): string {
  return ['version: STSv1', `mode: ${mode}`, `mx: ${mx}`, `max_age: ${maxAgeSeconds[mode]}`, ''].join('\r\n')
}

/** Gives a domain this policy; another `id` tells senders that it changed. The one it has already stays as it is. */
export async function setPolicy(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  domain: string,
  mode: MtaStsMode,
): Promise<MtaStsPolicyRow> {
  const before = await selectPolicy(db, domain)
  if (before?.mode === mode) return before
  const policy: MtaStsPolicyRow = { domain, mode, policy_id: newSortableToken(), changed_at: clock.now() }
  await upsertPolicy(db, policy)
  return policy
}

const mostPolicies = 5000

/**
 * The hosts at which policies must be found: also of those that are off, for as long as a sender may keep the policy from
 * before (RFC 8461 §8.3), and as long again.
 */
export async function policyHosts({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): Promise<readonly string[]> {
  const since = plusMs(clock.now(), -2000 * Math.max(...Object.values(maxAgeSeconds)))
  return (await selectPolicyDomains(db, since, mostPolicies)).map(policyHost)
}

/** A record that belongs to the policy of a domain, for its owner to publish. */
export interface PolicyRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly name: string
  readonly value: string
  /** Without a required one the policy has no effect. */
  readonly required: boolean
}

/**
 * The records to publish for a policy.
 * @param host where we serve HTTPS
 */
export function policyRecords(
  { domain, policy_id }: Pick<MtaStsPolicyRow, 'domain' | 'policy_id'>,
  host: string,
): readonly PolicyRecord[] {
  return [
    { type: 'CNAME', name: policyHost(domain), value: host, required: true },
    { type: 'TXT', name: `_mta-sts.${domain}`, value: `v=STSv1; id=${policy_id};`, required: true },
    // RFC 8460 §3: senders report what they met, also while the policy only tests.
    {
      type: 'TXT',
      name: `_smtp._tls.${domain}`,
      value: `v=TLSRPTv1; rua=mailto:postmaster@${domain}`,
      required: false,
    },
  ]
}
