import { createPublicKey } from 'node:crypto'
import { type Id, stableToken } from '../../base/ids.ts'
import type { ZoneRecord } from '../../ports/dns-zone/port.ts'

/** What a record is published for. */
export type RecordPurpose = 'ownership' | 'dkim' | 'spf' | 'return_path' | 'dmarc' | 'receiving_identity' | 'mx'

/** The result of a record's check. `unknown`: the look-up failed, so nothing is known about the record. */
export type RecordStatus = 'pending' | 'verified' | 'mismatch' | 'unknown'

/** A record that should be in DNS. The name is fully qualified, without a trailing dot. */
export interface ExpectedRecord<Purpose extends RecordPurpose = RecordPurpose> {
  readonly purpose: Purpose
  readonly type: 'TXT' | 'CNAME' | 'MX'
  readonly name: string
  readonly value: string
  readonly priority: number | null
  /** Does sending (or receiving) depend on it? */
  readonly required: boolean
}

/** The TTL of the records that we ask for, in seconds. */
export const recordTtlSeconds = 300

/** What an instance's own settings contribute to its domains' records. */
export interface InstanceDnsSettings {
  /** The host name that MX records point to. */
  readonly hostname: string
  /** The name that SPF records must include for the relay; undefined: none is required. */
  readonly spfInclude: string | undefined
  /** Whose envelope sender receivers see: with `ours`, bounces come to a name below the domain. */
  readonly returnPath?: 'ours' | 'theirs'
}

/** The TXT record of one of our DKIM keys; `required`: it signs mail. */
export function dkimRecord(
  domain: string,
  selector: string,
  privateKey: string,
  required: boolean,
): ExpectedRecord<'dkim'> {
  const name = `${selector}._domainkey.${domain}`
  return { purpose: 'dkim', type: 'TXT', name, value: dkimRecordValue(privateKey), priority: null, required }
}

/** The records for sending from `domain`, except those of its DKIM keys. */
export function senderRecords(
  domain: string,
  instance: InstanceDnsSettings,
): readonly ExpectedRecord<'spf' | 'return_path' | 'dmarc'>[] {
  const txt = { type: 'TXT', priority: null } as const
  return [
    {
      ...txt,
      purpose: 'spf',
      name: domain,
      value: spfRecordValue(instance),
      required: instance.spfInclude !== undefined,
    },
    ...(instance.returnPath === 'ours' ? returnPathRecords(domain, instance) : []),
    { ...txt, purpose: 'dmarc', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', required: false },
  ]
}

/** The SPF record that lists where our mail comes from: from the relay, or from our host. */
export function spfRecordValue({ spfInclude, hostname }: Pick<InstanceDnsSettings, 'spfInclude' | 'hostname'>): string {
  return spfInclude === undefined ? `v=spf1 a:${hostname} ~all` : `v=spf1 include:${spfInclude} ~all`
}

/**
 * The records of the domain's return path: an MX record for the name that receives its bounces, and the SPF record that
 * receivers check for it. Without them bounces come to the instance's own name.
 */
function returnPathRecords(domain: string, instance: InstanceDnsSettings): readonly ExpectedRecord<'return_path'>[] {
  const record = { purpose: 'return_path', name: `mr-bounces.${domain}`, required: false } as const
  return [
    { ...record, type: 'MX', value: instance.hostname.toLowerCase(), priority: 10 },
    { ...record, type: 'TXT', value: spfRecordValue(instance), priority: null },
  ]
}

/** The CNAME that shows that this instance is to receive `domain` for this organization. Its target need not exist. */
export function receivingIdentityRecord(
  organizationId: Id<'org'>,
  domain: string,
  instance: InstanceDnsSettings,
): ExpectedRecord<'receiving_identity'> {
  return {
    purpose: 'receiving_identity',
    type: 'CNAME',
    name: `_mailroom-in.${domain}`,
    value: `${stableToken(`receiving of ${domain} by ${organizationId}`)}.${instance.hostname.toLowerCase()}`,
    priority: null,
    required: true,
  }
}

/** The record that directs the domain's mail to us (RFC 5321 §5.1). */
export function mxRecord(domain: string, instance: InstanceDnsSettings): ExpectedRecord<'mx'> {
  return {
    purpose: 'mx',
    type: 'MX',
    name: domain,
    value: instance.hostname.toLowerCase(),
    priority: 10,
    required: true,
  }
}

const order: readonly RecordPurpose[] = ['ownership', 'dkim', 'spf', 'return_path', 'dmarc', 'receiving_identity', 'mx']

/** Sorts records for display: by purpose, those of one name by type. */
export function byPurpose(
  one: Pick<ExpectedRecord, 'purpose' | 'name' | 'type'>,
  other: Pick<ExpectedRecord, 'purpose' | 'name' | 'type'>,
): number {
  const between = order.indexOf(one.purpose) - order.indexOf(other.purpose)
  return between !== 0 || one.name !== other.name ? between : one.type.localeCompare(other.type)
}

/** The record as the DNS zone port takes it. */
export function toZoneRecord(record: ExpectedRecord): ZoneRecord {
  const { type, name, value, priority } = record
  return { type, name, value, priority, ttlSeconds: recordTtlSeconds }
}

/** The TXT record that publishes the public half of a key (RFC 6376 §3.6.1). */
export function dkimRecordValue(privateKey: string): string {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`
}
