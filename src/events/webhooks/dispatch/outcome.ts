import { dayMs, type Instant, millisecondsOf, plusMs } from '../../../base/clock.ts'
import { newId } from '../../../base/ids.ts'
import type { DeliveryRow, DueDelivery } from '../deliveries/table.ts'
import type { DisabledReason } from '../disabled-reason.ts'
import type { WebhookRow } from '../table.ts'
import type { AttemptResult } from './attempt.ts'
import { readRetryAfter, webhookRetryWaitMs } from './retry-schedule.ts'

/** A webhook without a success for so long is disabled. */
const disableAfterMs = 5 * dayMs

/** What is to be delivered: an event of the sequence for the first time, or a delivery again. */
export interface DeliveryTask {
  readonly sequence: number
  readonly eventId: DeliveryRow['event_id']
  readonly type: string
  readonly brandId: DeliveryRow['brand_id']
  /** Attempts made before. */
  readonly attempts: number
  /** The body; null: the event is not kept any more. */
  readonly body: string | null
}

/** What is written of a task. */
export interface TaskOutcome {
  readonly delivery: DeliveryRow
  /** null: nothing was sent. */
  readonly isSuccess: boolean | null
  /** The receiver asked never to be called again (410). */
  readonly isGone: boolean
}

type DeliveredTo = Pick<WebhookRow, 'id' | 'organization_id'>

/** What follows from an attempt. @param random a number from 0 to 1 */
export function outcomeOf(
  webhook: DeliveredTo,
  task: DeliveryTask,
  result: AttemptResult,
  now: Instant,
  random: number,
): TaskOutcome {
  const { httpStatus, error, response, retryAfter, durationMs } = result
  const attempt = task.attempts + 1
  const isSuccess = error === null
  const waitMs = isSuccess ? null : webhookRetryWaitMs(attempt, readRetryAfter(retryAfter, millisecondsOf(now)), random)
  const delivery = {
    ...deliveryOf(webhook, task, now),
    status: isSuccess ? ('delivered' as const) : waitMs === null ? ('failed' as const) : ('retrying' as const),
    attempt,
    duration_ms: durationMs,
    http_status: httpStatus,
    error,
    response,
    next_at: waitMs === null ? null : plusMs(now, waitMs),
  }
  return { delivery, isSuccess, isGone: httpStatus === 410 }
}

/** A delivery that ends without another attempt. */
export function endedOutcome(webhook: DeliveredTo, task: DeliveryTask, error: string, now: Instant): TaskOutcome {
  const delivery = { ...deliveryOf(webhook, task, now), status: 'failed' as const, error }
  return { delivery, isSuccess: null, isGone: false }
}

/** Why the webhook is disabled now; null: it is not. */
export function disabledBy(
  { isSuccess, isGone }: Pick<TaskOutcome, 'isSuccess' | 'isGone'>,
  failingSince: Instant | null,
  now: Instant,
): DisabledReason | null {
  if (isGone) return 'gone'
  return isSuccess === false && failingSince !== null && plusMs(failingSince, disableAfterMs) <= now ? 'failing' : null
}

function deliveryOf(webhook: DeliveredTo, task: DeliveryTask, now: Instant): Omit<DeliveryRow, 'status'> {
  return {
    id: newId('whd'),
    webhook_id: webhook.id,
    organization_id: webhook.organization_id,
    brand_id: task.brandId,
    sequence: task.sequence,
    event_id: task.eventId,
    type: task.type,
    attempt: task.attempts,
    at: now,
    duration_ms: null,
    http_status: null,
    error: null,
    response: null,
    next_at: null,
  }
}

/** The task of a delivery that is due. @param textOf the body of an event */
export function taskOfDue(
  { delivery, event }: DueDelivery,
  textOf: (event: NonNullable<DueDelivery['event']>) => string,
): DeliveryTask {
  return {
    sequence: delivery.sequence,
    eventId: delivery.event_id,
    type: delivery.type,
    brandId: delivery.brand_id,
    attempts: delivery.attempt,
    body: event && textOf(event),
  }
}
