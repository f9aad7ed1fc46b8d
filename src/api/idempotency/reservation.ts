import type { Id } from '../../base/ids.ts'

/**
 * An Idempotency-Key that this request holds. Whoever does the work stores the answer with it, in the work's own
 * transaction (accounts/idempotency.ts); what nobody stored, the door stores afterwards.
 */
export interface Reservation {
  readonly organizationId: Id<'org'>
  readonly key: string
  /** Whoever holds the row under this token may store its answer. */
  readonly token: string
}
