import { type Id, stableToken } from '../../base/ids.ts'
import type { ExistingRecord, ZoneRecord } from '../../ports/dns-zone/port.ts'

/** Who published a record, as it is noted beside it in the zone. */
export type RecordOwner =
  /** Mailroom, for a domain. */
  | { readonly kind: 'mailroom'; readonly domainId: Id<'dom'> }
  /** A person, at the provider or through the API. */
  | { readonly kind: 'user' }

/** The mark of what Mailroom publishes for a domain. It holds for this content alone. */
export function managedMark(domainId: Id<'dom'>, record: ZoneRecord): string {
  return `mailroom ${domainId} ${contentToken(record)}`
}

/** The mark of a record that one request made, known by `token`. */
export function requestMark(token: string): string {
  return `request ${token}`
}

const managedForm = /^mailroom (dom_[0-9a-hjkmnp-tv-z]{26}) [0-9a-hjkmnp-tv-z]{26}$/

/** Who published it. What somebody changed by hand since Mailroom published it is theirs. */
export function recordOwnerOf(record: ExistingRecord): RecordOwner {
  const domainId = managedForm.exec(record.mark ?? '')?.[1] as Id<'dom'> | undefined
  const isUntouched = domainId !== undefined && record.mark === managedMark(domainId, record)
  return isUntouched ? { kind: 'mailroom', domainId } : { kind: 'user' }
}

function contentToken({ type, name, value, priority }: ZoneRecord): string {
  return stableToken(JSON.stringify([type, name, value, priority]))
}
