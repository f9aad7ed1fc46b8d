import { type Clock, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Refusal } from '../../base/refusal.ts'
import { keyInProgress, type Reservation, responseRetentionMs } from './reservation.ts'
import { deleteExpiredKeys, type StoredResponse, selectCompletedTokens, updateResponses } from './table.ts'

/**
 * Stores responses, inside the transaction of the work that they answer. Gives one value for each, in their order: false
 * where the request no longer has its key reserved; its work must then be rolled back ({@link reservationLost}).
 */
export async function storeResponses(db: Db, responses: readonly StoredResponse[]): Promise<readonly boolean[]> {
  if (responses.length === 0) return []
  for (const { reservation } of responses) reservation.isResponseStored = true
  if ((await updateResponses(db, responses)) === responses.length) return responses.map(() => true)
  const reservations = responses.map(response => response.reservation)
  const tokens = await selectCompletedTokens(db, reservations)
  return reservations.map(({ token }) => tokens.has(token))
}

/**
 * Stores the response of an operation, inside its transaction. Does nothing where the client sent no Idempotency-Key.
 * @throws Refusal `idempotency_in_progress` when another request has taken the key over, which rolls the work back
 */
export async function storeResponse(
  db: Db,
  reservation: Reservation | undefined,
  response: { readonly status: number; readonly body: object },
): Promise<void> {
  if (!reservation) return
  const [isStored] = await storeResponses(db, [{ reservation, ...response, body: JSON.stringify(response.body) }])
  if (!isStored) throw reservationLost()
}

/** The refusal of a request whose key another request has taken over. */
export function reservationLost(): Refusal {
  return keyInProgress()
}

/** Deletes at most `limit` keys that are older than 24 hours and not reserved; gives how many. */
export function deleteExpiredResponses(db: Db, clock: Clock, limit: number): Promise<number> {
  const now = clock.now()
  return deleteExpiredKeys(db, plusMs(now, -responseRetentionMs), now, limit)
}
