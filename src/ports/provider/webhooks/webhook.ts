import { hourMs, type Instant, minuteMs } from '../../../base/clock.ts'

/** A request by which someone who says to be the provider brings news. */
export interface WebhookRequest {
  readonly headers: Headers
  readonly query: URLSearchParams
  /** As it came: signatures are over its bytes. */
  readonly body: Buffer
  readonly receivedAt: Instant
}

/** What the provider says became of an email for one recipient. */
export interface ProviderEvent {
  /**
   * `delayed`: it goes on trying. `bounced`: the recipient's side refused. `rejected`: the provider itself did.
   * `unsubscribed`: a wish of the recipient, no news of the email.
   */
  readonly type: 'delivered' | 'delayed' | 'bounced' | 'rejected' | 'complained' | 'unsubscribed'
  /** Our name for the email, as it went along with it. */
  readonly emailId: string
  readonly recipient: string
  readonly occurredAt: Instant
  /** The same text whenever the provider tells this again, and for nothing else that it tells. */
  readonly key: string
  readonly smtpCode: number | null
  /** RFC 3463. */
  readonly enhancedCode: string | null
  /** The recipient's server's own words, or the provider's, on one line. */
  readonly detail: string | null
  /** What the provider makes of a bounce; a null is where it makes nothing of it. */
  readonly bounce: ProviderBounce | null
  readonly providerMessageId: string | null
  /** The Message-ID that recipients see, without angle brackets. */
  readonly wireMessageId: string | null
}

export interface ProviderBounce {
  readonly type: 'permanent' | 'transient' | 'undetermined' | null
  readonly scope: 'recipient' | 'infrastructure' | null
}

export type WebhookResult =
  /** It is the provider's. */
  | {
      readonly kind: 'news'
      /** In the order told; what does not concern deliveries is left out. */
      readonly news: readonly ProviderEvent[]
      /** What may be taken once only, with this body: for signatures that do not cover the body. */
      readonly once: string | null
    }
  /** It does not prove to be the provider's, or not to be an old one. */
  | { readonly kind: 'forged'; readonly why: string }
  /** It is the provider's, and not of a form that it documents. */
  | { readonly kind: 'malformed'; readonly why: string }

/** How a provider brings news by HTTP. */
export interface ProviderWebhook {
  /** The last part of its path, and the provider's name. */
  readonly name: string
  /** Whether a request is the provider's, and what it says. Never throws for what the request holds. */
  read(request: WebhookRequest): Promise<WebhookResult>
}

/** How much older than its arrival a signature may be, in milliseconds: providers repeat for a day what was not taken. */
export const maxSignatureAgeMs = 25 * hourMs
/** How far ahead of ours the provider's clock may be, in milliseconds. */
export const maxClockAheadMs = 5 * minuteMs
