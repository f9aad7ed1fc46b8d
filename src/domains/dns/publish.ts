import type { Id } from '../../base/ids.ts'
import type { ExistingRecord, WriteResult, Zone, ZoneRecord } from '../../ports/dns-zone/port.ts'
import { evaluateValues } from './check-record.ts'
import { managedMark, recordOwnerOf } from './record-owner.ts'
import { type ExpectedRecord, toZoneRecord } from './records.ts'

/** What became of each record. */
export interface PublishResult {
  readonly published: readonly ExpectedRecord[]
  /** It was there already. */
  readonly unchanged: readonly ExpectedRecord[]
  readonly conflicts: readonly PublishConflict[]
}

/** Somebody else's records stand where ours should; they are never overwritten. */
export interface PublishConflict {
  readonly record: ExpectedRecord
  readonly existing: readonly ExistingRecord[]
  /** A sentence for a person. */
  readonly reason: string
}

type PublishOutcome =
  | { readonly kind: 'published' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict'; readonly existing: readonly ExistingRecord[]; readonly reason: string }

/**
 * Publishes the domain's records that are not there yet and brings up to date those that Mailroom published for it; running
 * it again changes nothing. An MX record is left out: it moves the domain's mail, so a person publishes it.
 * @throws whatever the zone throws; what was published before that stays.
 */
export async function publishToZone(
  zone: Zone,
  domainId: Id<'dom'>,
  records: readonly ExpectedRecord[],
): Promise<PublishResult> {
  const published: ExpectedRecord[] = []
  const unchanged: ExpectedRecord[] = []
  const conflicts: PublishConflict[] = []
  for (const record of records.filter(record => record.purpose !== 'mx')) {
    const outcome = await publishOne(zone, domainId, record)
    switch (outcome.kind) {
      case 'published':
        published.push(record)
        break
      case 'unchanged':
        unchanged.push(record)
        break
      case 'conflict':
        conflicts.push({ record, existing: outcome.existing, reason: outcome.reason })
        break
      default:
        outcome satisfies never
    }
  }
  return { published, unchanged, conflicts }
}

async function publishOne(zone: Zone, domainId: Id<'dom'>, record: ExpectedRecord): Promise<PublishOutcome> {
  const wanted = toZoneRecord(record)
  const mark = managedMark(domainId, wanted)
  const there = (await zone.recordsAt(record.name)).filter(existingRecord => existingRecord.type === record.type)
  const status = judgeHeld(record, there)
  if (status === 'verified') return { kind: 'unchanged' }
  if (status === 'pending') return outcomeOf(wanted, await zone.create(wanted, mark))
  const outdated = there.find(
    existingRecord => isMadeFor(domainId, existingRecord) && judgeHeld(record, [existingRecord]) === 'mismatch',
  )
  const others = there.filter(existingRecord => existingRecord !== outdated)
  if (!outdated || judgeHeld(record, others) !== 'pending')
    return {
      kind: 'conflict',
      existing: there.filter(
        existingRecord => judgeHeld(record, [existingRecord]) !== 'pending' && !isMadeFor(domainId, existingRecord),
      ),
      reason: `What stands at ${record.name} was not published by Mailroom for this domain.`,
    }
  const written = await zone.update(outdated.id, wanted, mark)
  return outcomeOf(wanted, written ?? (await zone.create(wanted, mark)))
}

function judgeHeld(record: ExpectedRecord, held: readonly ZoneRecord[]) {
  return evaluateValues(
    record,
    held.map(zoneRecord =>
      zoneRecord.type === 'MX' ? `${zoneRecord.priority} ${zoneRecord.value}` : zoneRecord.value,
    ),
  ).status
}

function isMadeFor(domainId: Id<'dom'>, record: ExistingRecord): boolean {
  const maker = recordOwnerOf(record)
  return maker.kind === 'mailroom' && maker.domainId === domainId
}

function outcomeOf(wanted: ZoneRecord, written: WriteResult): PublishOutcome {
  switch (written.kind) {
    case 'written':
      return { kind: 'published' }
    case 'exists':
      return { kind: 'unchanged' }
    case 'conflict':
      return {
        kind: 'conflict',
        existing: written.existing,
        reason:
          wanted.type === 'CNAME'
            ? `A CNAME must stand alone, and ${wanted.name} has other records.`
            : `${wanted.name} is a CNAME, beside which no other record may stand.`,
      }
    default:
      return written satisfies never
  }
}
