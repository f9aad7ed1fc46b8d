/** Why a request is not taken for a webhook of Mailroom. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/** A webhook request as it arrived. */
export interface WebhookRequest {
  /** The bytes of the body, or their text; not an object that was parsed from them. */
  readonly body: string | Uint8Array
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface WebhookOptions {
  /** How far the time of a request may be from now, in seconds; 300 by default. */
  readonly toleranceSeconds?: number
}

const defaultToleranceSeconds = 300
const encoder = new TextEncoder()

/**
 * Verifies a webhook request (Standard Webhooks 1.0.0) and gives its event.
 * @param secret the secret of the endpoint, `whsec_…`; while it is rotated, the old one and the new one
 * @throws WebhookVerificationError: answer the request with status 400 and do nothing else
 */
export async function verifyWebhook<Payload = unknown>(
  { body, headers }: WebhookRequest,
  secret: string | readonly string[],
  { toleranceSeconds = defaultToleranceSeconds }: WebhookOptions = {},
): Promise<Payload> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = signaturesIn(headerOf(headers, 'webhook-signature'))
  requireRecent(timestamp, toleranceSeconds)
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  const signed = joined(encoder.encode(`${id}.${timestamp}.`), bytes)
  for (const one of [secret].flat()) {
    const key = await keyOf(one)
    // Compares in constant time.
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return JSON.parse(new TextDecoder().decode(bytes))
  }
  throw new WebhookVerificationError('No signature of the request was made with this secret.')
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
  if (typeof value === 'string' && value !== '') return value
  throw new WebhookVerificationError(`The request has no header ${name}.`)
}

function requireRecent(timestamp: string, toleranceSeconds: number): void {
  const ageSeconds = Date.now() / 1000 - Number(timestamp)
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(ageSeconds) > toleranceSeconds)
    throw new WebhookVerificationError(
      `The time of the request is not within ${toleranceSeconds} seconds of this machine’s.`,
    )
}

/** The signatures of the version that is known; a request has several while its secret is rotated. */
function signaturesIn(header: string): readonly Uint8Array<ArrayBuffer>[] {
  return header.split(' ').flatMap(signature => {
    const [version, text = ''] = signature.split(',')
    const bytes = version === 'v1' ? base64(text) : undefined
    return bytes ? [bytes] : []
  })
}

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = base64(secret.replace(/^whsec_/, ''))
  if (!bytes || bytes.length === 0) throw new TypeError('The secret of a webhook is `whsec_` and base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function base64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), letter => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
