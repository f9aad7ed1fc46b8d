import type { components } from '../../api/v1.ts'

/** An address that nothing is sent to. */
export type Suppression = components['schemas']['Suppression']

export type Reason = Suppression['reason']

const reasons: readonly Reason[] = ['hard_bounce', 'complaint', 'unsubscribe', 'manual']

export function isReason(text: unknown): text is Reason {
  return (reasons as readonly unknown[]).includes(text)
}
