import { type Instant, toIso } from '../base/clock.ts'
import { type Refusal, refuse } from '../base/refusal.ts'

/** What {@link purgedRefusal} refuses with. */
export const purgedRefusals = ['not_found'] as const

/** The refusal of content that retention deleted at that time. */
export function purgedRefusal(what: string, at: Instant): Refusal {
  return refuse('not_found', {
    message: `${what} was deleted at ${toIso(at)}, at the end of its retention time.`,
  })
}
