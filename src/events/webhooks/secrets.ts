import type { Instant } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import type { WebhookRow } from './table.ts'

/** What of a webhook is stored sealed only. */
export interface WebhookSecrets {
  /** `whsec_…`; signs each delivery. */
  readonly secret: string
  /** The secret before it, which signs as well until then. */
  readonly previous: { readonly secret: string; readonly until: Instant } | null
  /** Sent with each delivery, by name. */
  readonly headers: Readonly<Record<string, string>>
}

/** The columns that hold the secrets of a webhook. */
export type SealedColumns = Pick<WebhookRow, 'sealed' | 'sealed_by' | 'secret_ends_in'>

export function sealWebhook(id: Id<'whk'>, secrets: Secrets, content: WebhookSecrets): SealedColumns {
  const { keyId, text } = secrets.seal(JSON.stringify(content), placeOf(id))
  return { sealed: text, sealed_by: keyId, secret_ends_in: content.secret.slice(-4) }
}

/** @throws when no configured secret key opens them */
export function openWebhook(row: Pick<WebhookRow, 'id' | 'sealed' | 'sealed_by'>, secrets: Secrets): WebhookSecrets {
  return JSON.parse(secrets.open({ keyId: row.sealed_by, text: row.sealed }, placeOf(row.id))) as WebhookSecrets
}

/** The secrets that sign at this moment, the present one first. */
export function signingSecrets({ secret, previous }: WebhookSecrets, now: Instant): readonly string[] {
  return previous && previous.until > now ? [secret, previous.secret] : [secret]
}

/** Authenticated with what is sealed, so that one webhook's secrets are useless in another's row. */
function placeOf(id: Id<'whk'>): string {
  return `webhook ${id}`
}
