import { type Clock, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { newSortableToken } from '../../base/ids.ts'
import { type MtaStsPolicyRow, selectPolicy, selectPolicyDomains, upsertPolicy } from './table.ts'

export type MtaStsMode = MtaStsPolicyRow['mode']

const day = 86_400

/** How long senders cache a policy, in seconds: short for one that only tests or withdraws an earlier one. */
const maxAgeSeconds: Readonly<Record<MtaStsMode, number>> = { none: day, testing: day, enforce: 7 * day }

/** The host from which senders fetch a domain's policy (RFC 8461 §3.3). */
export function policyHost(domain: string): string {
  return `mta-sts.${domain}`
}

/** The policy file (RFC 8461 §3.2). @param mx the host that all MX records of the domain point to */
export function policyText(mode: MtaStsMode, mx: string): string {
  return ['version: STSv1', `mode: ${mode}`, `mx: ${mx}`, `max_age: ${maxAgeSeconds[mode]}`, ''].join('\r\n')
}

/** Sets a domain's policy with a new id, which tells senders that it changed. The same mode again changes nothing. */
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

const maxPolicies = 5000

/**
 * The hosts that must serve a policy. Includes domains whose policy was turned off, for twice as long as a sender may cache
 * the earlier policy (RFC 8461 §8.3).
 */
export async function policyHosts({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): Promise<readonly string[]> {
  const since = plusMs(clock.now(), -2000 * Math.max(...Object.values(maxAgeSeconds)))
  return (await selectPolicyDomains(db, since, maxPolicies)).map(policyHost)
}

/** A DNS record that a domain's policy needs, for its owner to publish. */
export interface PolicyRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly name: string
  readonly value: string
  /** The policy has no effect without the required records. */
  readonly required: boolean
}

/**
 * The records to publish for a policy.
 * @param host our host that serves the policy over HTTPS
 */
export function policyRecords(
  { domain, policy_id }: Pick<MtaStsPolicyRow, 'domain' | 'policy_id'>,
  host: string,
): readonly PolicyRecord[] {
  return [
    { type: 'CNAME', name: policyHost(domain), value: host, required: true },
    { type: 'TXT', name: `_mta-sts.${domain}`, value: `v=STSv1; id=${policy_id};`, required: true },
    // TLS-RPT (RFC 8460 §3): senders report failures, also while the policy only tests.
    {
      type: 'TXT',
      name: `_smtp._tls.${domain}`,
      value: `v=TLSRPTv1; rua=mailto:postmaster@${domain}`,
      required: false,
    },
  ]
}
