import { hourMs, type Instant, minuteMs } from '../../../base/clock.ts'

/** An HTTP request that claims to bring provider events. */
export interface WebhookRequest {
  readonly headers: Headers
  readonly query: URLSearchParams
  /** The bytes as they came: signatures cover them. */
  readonly body: Buffer
  readonly receivedAt: Instant
}

/** What the provider reports about an email and one of its recipients. Simulated ones are stored as JSON. */
export interface ProviderEvent {
  /**
   * `delayed`: the provider keeps trying. `bounced`: the recipient's side refused. `rejected`: the provider itself refused.
   * `unsubscribed`: the recipient wants no more mail; says nothing about the delivery.
   */
  readonly type: 'delivered' | 'delayed' | 'bounced' | 'rejected' | 'complained' | 'unsubscribed'
  /** Our id of the email, as it was submitted with it. */
  readonly emailId: string
  readonly recipient: string
  readonly occurredAt: Instant
  /** Identifies the event: the same each time that the provider reports it, and different for every other event. */
  readonly key: string
  readonly smtpCode: number | null
  /** RFC 3463. */
  readonly enhancedCode: string | null
  /** The reply of the recipient's server, or else the provider's explanation, on one line. */
  readonly detail: string | null
  /** How the provider classifies a bounce; null: it is not a bounce. */
  readonly bounce: ProviderBounce | null
  readonly providerMessageId: string | null
  /** The Message-ID that recipients see, without angle brackets. */
  readonly wireMessageId: string | null
}

/** A provider's classification of a bounce; null where it gives none. */
export interface ProviderBounce {
  readonly type: 'permanent' | 'transient' | 'undetermined' | null
  readonly scope: 'recipient' | 'infrastructure' | null
}

/** What an event of a provider's own API means. */
export type EventMeaning = Pick<ProviderEvent, 'type' | 'bounce'>

export type WebhookResult =
  /** Proven to be the provider's. */
  | {
      readonly kind: 'events'
      /** In the order reported, without those that are not about deliveries or not about emails of ours. */
      readonly events: readonly ProviderEvent[]
      /**
       * A token that is valid once, with this body only: for signatures that do not cover the body. null: the signature
       * covers it, or the request carries a secret.
       */
      readonly singleUseToken: string | null
    }
  /** Not proven to be the provider's, or too old. */
  | { readonly kind: 'forged'; readonly why: string }
  /** The provider's, but in no form that it documents. */
  | { readonly kind: 'malformed'; readonly why: string }

/**
 * How a provider reports events by HTTP. An adapter proves the sender before it reads anything else, and ignores events
 * that it does not know.
 */
export interface ProviderWebhook {
  /** The provider's name, which is also a part of the URL: `/provider/<name>/events`. */
  readonly name: string
  /** Never rejects for what the request holds. `why` in the result is sent back to the provider. */
  read(request: WebhookRequest): Promise<WebhookResult>
}

/** How old a signature may be on arrival, in milliseconds: providers retry for up to a day. */
export const maxSignatureAgeMs = 25 * hourMs
/** How far ahead of ours the provider's clock may be, in milliseconds. */
export const maxClockAheadMs = 5 * minuteMs
