import type { Id } from '../../base/ids.ts'
import type { HeldRecord, Written, Zone, ZoneRecord } from '../../ports/dns-zone/port.ts'
import { judgeValues } from './check-record.ts'
import { makerOf, managedMark } from './record-owner.ts'
import { type PublishedRecord, toZoneRecord } from './records.ts'

/** What became of each record. */
export interface Publication {
  readonly published: readonly PublishedRecord[]
  /** It was there already. */
  readonly unchanged: readonly PublishedRecord[]
  readonly conflicts: readonly Conflict[]
}

/** Somebody else's records stand where ours should; they are never overwritten. */
export interface Conflict {
  readonly record: PublishedRecord
  readonly existing: readonly HeldRecord[]
  /** A sentence for a person. */
  readonly reason: string
}

type Outcome =
  | { readonly kind: 'published' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict'; readonly existing: readonly HeldRecord[]; readonly reason: string }

/**
 * Publishes the domain's records that are not there yet and brings up to date those that Mailroom published for it; running
 * it again changes nothing. An MX record is left out: it moves the domain's mail, so a person publishes it.
 * @throws whatever the zone throws; what was published before that stays.
 */
export async function publish(
  zone: Zone,
  domainId: Id<'dom'>,
  records: readonly PublishedRecord[],
): Promise<Publication> {
  const published: PublishedRecord[] = []
  const unchanged: PublishedRecord[] = []
  const conflicts: Conflict[] = []
  for (const record of records.filter(each => each.purpose !== 'mx')) {
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

async function publishOne(zone: Zone, domainId: Id<'dom'>, record: PublishedRecord): Promise<Outcome> {
  const wanted = toZoneRecord(record)
  const mark = managedMark(domainId, wanted)
  const there = (await zone.at(record.name)).filter(each => each.type === record.type)
  const status = judgeHeld(record, there)
  if (status === 'verified') return { kind: 'unchanged' }
  if (status === 'pending') return outcomeOf(wanted, await zone.create(wanted, mark))
  const outdated = there.find(each => isMadeFor(domainId, each) && judgeHeld(record, [each]) === 'mismatch')
  const others = there.filter(each => each !== outdated)
  if (!outdated || judgeHeld(record, others) !== 'pending')
    return {
      kind: 'conflict',
      existing: there.filter(each => judgeHeld(record, [each]) !== 'pending' && !isMadeFor(domainId, each)),
      reason: `What stands at ${record.name} was not published by Mailroom for this domain.`,
    }
  const written = await zone.update(outdated.id, wanted, mark)
  return outcomeOf(wanted, written ?? (await zone.create(wanted, mark)))
}

function judgeHeld(record: PublishedRecord, held: readonly ZoneRecord[]) {
  return judgeValues(
    record,
    held.map(each => (each.type === 'MX' ? `${each.priority} ${each.value}` : each.value)),
  ).status
}

function isMadeFor(domainId: Id<'dom'>, record: HeldRecord): boolean {
  const maker = makerOf(record)
  return maker.kind === 'mailroom' && maker.domainId === domainId
}

function outcomeOf(wanted: ZoneRecord, written: Written): Outcome {
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
