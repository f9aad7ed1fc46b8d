import type { Id } from '../../base/ids.ts'
import type { QueueFilter } from './table.ts'

/** The statuses of recipients that are still to be submitted. */
export const queueStatuses = ['scheduled', 'queued', 'delayed'] as const

/** The most emails that one selection names. */
export const maxSelectedEmails = 1000

/** The most characters of the reason of a hold. */
export const maxHoldReasonLength = 200

/** How an operator says which recipients of the queue are meant. */
export interface QueueSelection {
  readonly emailIds: readonly Id<'eml'>[]
  /** All that are given must match. */
  readonly filter: Omit<QueueFilter, 'emailIds'>
  /** The whole queue. */
  readonly isAll: boolean
}

/** The filter of a selection, which is to be made in exactly one of three ways; else what is wrong with it. */
export function resolveSelection({
  emailIds,
  filter,
  isAll,
}: QueueSelection): QueueFilter | 'nothing_selected' | 'several_ways' | 'too_many_emails' {
  const ways = [emailIds.length > 0, Object.keys(filter).length > 0, isAll].filter(Boolean).length
  if (ways === 0) return 'nothing_selected'
  if (ways > 1) return 'several_ways'
  if (emailIds.length > maxSelectedEmails) return 'too_many_emails'
  return emailIds.length > 0 ? { emailIds } : filter
}
