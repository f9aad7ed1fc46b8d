import { createHmac, randomBytes } from 'node:crypto'

const secretBytes = 32
const secretPrefix = 'whsec_'

/** A new signing secret: `whsec_` and 32 random bytes in base64 (Standard Webhooks 1.0.0). */
export function newSigningSecret(): string {
  return `${secretPrefix}${randomBytes(secretBytes).toString('base64')}`
}

/**
 * The headers that sign a delivery after Standard Webhooks 1.0.0: HMAC-SHA256 of `id.timestamp.body`, once with each secret.
 * @param id the same at each attempt, so that a receiver knows a repetition
 * @param atSeconds the time of this attempt, since 1970
 */
export function signatureHeaders(
  id: string,
  atSeconds: number,
  body: string,
  secrets: readonly string[],
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const signed = `${id}.${atSeconds}.${body}`
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(atSeconds), 'webhook-signature': signatures.join(' ') }
}
