import { createPublicKey } from 'node:crypto'
import { type Id, stableToken } from '../../base/ids.ts'
import type { ZoneRecord } from '../../ports/dns-zone/port.ts'

/** What a record is published for. */
export type RecordPurpose = 'ownership' | 'dkim' | 'spf' | 'return_path' | 'dmarc' | 'receiving_identity' | 'mx'

/** What was seen of a record. `unknown`: DNS did not answer, which says nothing about the record. */
export type RecordStatus = 'pending' | 'verified' | 'mismatch' | 'unknown'

/** A record that somebody is to publish. The name is fully qualified, without a final dot. */
export interface ExpectedRecord<Purpose extends RecordPurpose = RecordPurpose> {
  readonly purpose: Purpose
  readonly type: 'TXT' | 'CNAME' | 'MX'
  readonly name: string
  readonly value: string
  readonly priority: number | null
  /** Does sending (or receiving) wait for it? */
  readonly required: boolean
}

/** How long a record that we name may be kept by resolvers, in seconds. */
export const recordTtlSeconds = 300

/** What an instance publishes of itself in its domains' records. */
export interface InstanceDnsSettings {
  /** Our name, where the MX record leads. */
  readonly hostname: string
  /** The name that SPF records include for the relay; undefined: none is demanded. */
  readonly spfInclude: string | undefined
  /** Whose envelope sender the relay shows to receivers; where it is ours, bounces come to a name below the domain. */
  readonly returnPath?: 'ours' | 'theirs'
}

/** The record of the key under `selector`; `required`: mail is signed with it. */
export function dkimRecord(
  domain: string,
  selector: string,
  privateKey: string,
  required: boolean,
): ExpectedRecord<'dkim'> {
  const name = `${selector}._domainkey.${domain}`
  return { purpose: 'dkim', type: 'TXT', name, value: dkimRecordValue(privateKey), priority: null, required }
}

/** The records for sending from `domain`, but those of its keys. */
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
      value: spfValue(instance),
      required: instance.spfInclude !== undefined,
    },
    ...(instance.returnPath === 'ours' ? returnPathRecords(domain, instance) : []),
    { ...txt, purpose: 'dmarc', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', required: false },
  ]
}

function spfValue({ spfInclude, hostname }: InstanceDnsSettings): string {
  return spfInclude === undefined ? `v=spf1 a:${hostname} ~all` : `v=spf1 include:${spfInclude} ~all`
}

/**
 * The name to which bounces of the domain's mail come, and the SPF record that receivers look at for them. Without it bounces
 * come to our own name.
 */
function returnPathRecords(domain: string, instance: InstanceDnsSettings): readonly ExpectedRecord<'return_path'>[] {
  const record = { purpose: 'return_path', name: `mr-bounces.${domain}`, required: false } as const
  return [
    { ...record, type: 'MX', value: instance.hostname.toLowerCase(), priority: 10 },
    { ...record, type: 'TXT', value: spfValue(instance), priority: null },
  ]
}

/** The CNAME that shows that `domain` is to be received by this organization here. Its target need not exist. */
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

/** The record that moves the domain's mail to us (RFC 5321 §5.1). */
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

/** The order in which records are shown: by what they are for, then those of one name by type. */
export function byPurpose(
  one: Pick<ExpectedRecord, 'purpose' | 'name' | 'type'>,
  other: Pick<ExpectedRecord, 'purpose' | 'name' | 'type'>,
): number {
  const between = order.indexOf(one.purpose) - order.indexOf(other.purpose)
  return between !== 0 || one.name !== other.name ? between : one.type.localeCompare(other.type)
}

/** The record in the form that a zone takes. */
export function toZoneRecord(record: ExpectedRecord): ZoneRecord {
  const { type, name, value, priority } = record
  return { type, name, value, priority, ttlSeconds: recordTtlSeconds }
}

/** The TXT record that publishes the public half of a key (RFC 6376 §3.6.1). */
export function dkimRecordValue(privateKey: string): string {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`
}
