import { t } from 'elysia'
import { type Instant, instantAt, microsecondsOf, toIso } from '../base/clock.ts'
import { refuse } from '../base/refusal.ts'
import { readInstant } from './page.ts'

/**
 * `if_updated_at` in the body of a change: it is made only if nobody has changed the resource since the caller read it, so
 * that two people who edit one thing do not overwrite each other unseen.
 */
export const ifUpdatedAtSchema = t.Optional(
  t.String({
    description:
      'The `updated_at` that was read: what has changed since is left as it is, and the answer is 409 `changed_since_read`.',
  }),
)

/** The refusals of {@link requireUnchanged}. */
export const ifUpdatedAtRefusals = ['changed_since_read'] as const

/**
 * Nobody has changed the row since the caller read it. To be called with the row locked.
 * @param what names it in a sentence, such as `The draft drf_1`
 * @throws Refusal `changed_since_read`, `invalid_request`
 */
export function requireUnchanged(
  what: string,
  row: { readonly updated_at: Instant },
  { if_updated_at }: { readonly if_updated_at?: string | undefined },
): void {
  if (if_updated_at === undefined || readInstant(if_updated_at, 'if_updated_at') === row.updated_at) return
  throw refuse('changed_since_read', {
    message: `${what} was changed at ${toIso(row.updated_at)}, after it was read.`,
    param: 'if_updated_at',
    resolution: 'Read it again, and decide what to keep.',
  })
}

/** The `updated_at` of a change: now, but always later than the one before, by which changes are told apart. */
export function nextUpdatedAt(last: Instant, now: Instant): Instant {
  return now > last ? now : instantAt(microsecondsOf(last) + 1)
}
