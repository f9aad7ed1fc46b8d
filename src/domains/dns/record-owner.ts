import { type Id, stableToken } from '../../base/ids.ts'
import type { ExistingRecord, ZoneRecord } from '../../ports/dns-zone/port.ts'

/** Who published a record, according to the mark that is stored beside it in the zone. */
export type RecordOwner =
  /** Mailroom, for a domain. */
  | { readonly kind: 'mailroom'; readonly domainId: Id<'dom'> }
  /** A person, at the provider or through the API. */
  | { readonly kind: 'user' }

/** The mark of a record that Mailroom publishes for a domain. It depends on the content: an edited record no longer matches. */
export function managedMark(domainId: Id<'dom'>, record: ZoneRecord): string {
  return `mailroom ${domainId} ${contentToken(record)}`
}

/** The mark of a record that one API request created, identified by `token`. */
export function requestMark(token: string): string {
  return `request ${token}`
}

const managedForm = /^mailroom (dom_[0-9a-hjkmnp-tv-z]{26}) [0-9a-hjkmnp-tv-z]{26}$/

/** Who published it. A record that was edited after Mailroom published it belongs to the user. */
export function recordOwnerOf(record: ExistingRecord): RecordOwner {
  const domainId = managedForm.exec(record.mark ?? '')?.[1] as Id<'dom'> | undefined
  const isUntouched = domainId !== undefined && record.mark === managedMark(domainId, record)
  return isUntouched ? { kind: 'mailroom', domainId } : { kind: 'user' }
}

function contentToken({ type, name, value, priority }: ZoneRecord): string {
  return stableToken(JSON.stringify([type, name, value, priority]))
}
