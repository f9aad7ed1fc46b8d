import type { DatabaseSchema } from '../../base/database/schema.ts'

export type DisabledReason = NonNullable<DatabaseSchema['webhooks']['disabled_reason']>

/** The reasons for which Mailroom itself disables a webhook, without anybody asking for it. */
export const unrequestedReasons = ['gone', 'failing', 'not_allowed'] as const satisfies readonly DisabledReason[]

export type UnrequestedReason = (typeof unrequestedReasons)[number]

export function isUnrequested(reason: DisabledReason): reason is UnrequestedReason {
  return (unrequestedReasons as readonly DisabledReason[]).includes(reason)
}
