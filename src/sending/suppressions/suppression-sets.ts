import type { Id } from '../../base/ids.ts'
import type { SuppressedRecipient } from '../accept/table.ts'

/** Which of some addresses are suppressed, looked up with {@link isSuppressed}. */
export interface SuppressionSets {
  /** Suppressed from all mail of a brand, as {@link suppressionKey} names them. */
  readonly suppressed: ReadonlySet<string>
  /** Unsubscribed: suppressed only from emails that carry an unsubscribe link. */
  readonly unsubscribed: ReadonlySet<string>
}

export function suppressionSets(rows: readonly SuppressedRecipient[]): SuppressionSets {
  const keysOf = (isUnsubscribed: boolean) =>
    new Set(
      rows.filter(row => row.isUnsubscribed === isUnsubscribed).map(row => suppressionKey(row.brandId, row.email)),
    )
  return { suppressed: keysOf(false), unsubscribed: keysOf(true) }
}

/** Is `recipient` suppressed from an email of this brand? `unsubscribe`: does the email carry an unsubscribe link? */
export function isSuppressed(
  { brandId, unsubscribe }: { readonly brandId: Id<'brd'>; readonly unsubscribe: boolean },
  recipient: string,
  sets: SuppressionSets,
): boolean {
  const key = suppressionKey(brandId, recipient)
  return sets.suppressed.has(key) || (unsubscribe && sets.unsubscribed.has(key))
}

/** Addresses compare without case. */
function suppressionKey(brandId: Id<'brd'>, email: string): string {
  return `${brandId} ${email.toLowerCase()}`
}
