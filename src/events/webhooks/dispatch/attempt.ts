import type { SecureContext } from 'node:tls'
import { type Clock, millisecondsOf } from '../../../base/clock.ts'
import type { Secrets } from '../../../base/secrets/secrets.ts'
import { version } from '../../../base/version.ts'
import type { Resolver } from '../../../ports/resolver/port.ts'
import { checkDestination, type DestinationPolicy, readDestinationUrl } from '../destination/destination.ts'
import { post } from '../destination/post.ts'
import { openWebhook, signingSecrets } from '../secrets.ts'
import type { WebhookRow } from '../table.ts'
import { signatureHeaders } from './signature.ts'

/** What an attempt to deliver depends on. */
export interface AttemptDeps {
  readonly clock: Clock
  readonly secrets: Secrets
  readonly resolver: Resolver
  readonly policy: DestinationPolicy
  /** Which roots are trusted; undefined: the usual ones. */
  readonly tls: SecureContext | undefined
}

/** What came of an attempt. */
export interface AttemptResult {
  readonly httpStatus: number | null
  /** Why it failed; null: the response was 2xx. */
  readonly error: string | null
  /** The start of the response's body. */
  readonly response: string | null
  /** As the receiver sent it, with 429 and 503 only. */
  readonly retryAfter: string | null
  readonly durationMs: number
}

/** From the look-up of the name until the response has been read, in milliseconds. */
const attemptTimeoutMs = 15_000
const maxErrorLength = 500

/**
 * Signs a body and posts it to the webhook, whose destination is looked up and checked anew. Never throws.
 * @param id the `webhook-id`: the event's, at each attempt
 * @param stopping withdraws the attempt
 */
export async function attemptDelivery(
  deps: AttemptDeps,
  webhook: Pick<WebhookRow, 'id' | 'url' | 'sealed' | 'sealed_by'>,
  { id, body }: { readonly id: string; readonly body: string },
  stopping?: AbortSignal,
): Promise<AttemptResult> {
  const startedMs = performance.now()
  const timeout = new AbortController()
  const timer = setTimeout(
    () => timeout.abort(new Error(`no response within ${attemptTimeoutMs / 1000} s`)),
    attemptTimeoutMs,
  )
  const signal = stopping ? AbortSignal.any([timeout.signal, stopping]) : timeout.signal
  const durationMs = () => Math.round(performance.now() - startedMs)
  try {
    const { status, retryAfter, body: response } = await signAndPost(deps, webhook, { id, body }, signal)
    const error = status >= 200 && status < 300 ? null : describeStatus(status)
    const mayDelay = status === 429 || status === 503
    return { httpStatus: status, error, response, retryAfter: mayDelay ? retryAfter : null, durationMs: durationMs() }
  } catch (error) {
    return { httpStatus: null, error: describeError(error), response: null, retryAfter: null, durationMs: durationMs() }
  } finally {
    clearTimeout(timer)
  }
}

async function signAndPost(
  { clock, secrets, resolver, policy, tls }: AttemptDeps,
  webhook: Pick<WebhookRow, 'id' | 'url' | 'sealed' | 'sealed_by'>,
  { id, body }: { readonly id: string; readonly body: string },
  signal: AbortSignal,
) {
  const url = readDestinationUrl(webhook.url, policy)
  const destination = url instanceof URL ? await checkDestination(url, policy, resolver, signal) : url
  if (destination.kind !== 'allowed') throw new Error(destination.message)
  const content = openWebhook(webhook, secrets)
  const now = clock.now()
  const headers = {
    ...content.headers,
    'content-type': 'application/json',
    'user-agent': `Mailroom/${version}`,
    ...signatureHeaders(id, Math.floor(millisecondsOf(now) / 1000), body, signingSecrets(content, now)),
  }
  return await post({ destination, headers, body, signal, tls })
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `HTTP ${status}: redirects are not followed`
  return `HTTP ${status}`
}

function describeError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return (message || 'the connection failed').slice(0, maxErrorLength)
}
