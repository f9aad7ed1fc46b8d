import type { Caller } from '../caller.ts'

/** Everything in which two requests must agree to count as the same request. */
export interface FingerprintedRequest {
  readonly caller: Pick<Caller, 'keyId' | 'memberId' | 'organizationId' | 'brandId' | 'scopes'>
  readonly method: string
  /** Path and query, as the client sent them. */
  readonly target: string
  readonly body: Uint8Array
}

/** SHA-256 of key id (of a member in the dashboard, the member's), effective scopes, brand, method, path, query and body. */
export function fingerprintOf({ caller, method, target, body }: FingerprintedRequest): Buffer {
  const head = JSON.stringify([
    caller.keyId ?? caller.memberId,
    [...caller.scopes].sort(),
    caller.brandId,
    method,
    target,
  ])
  return new Bun.CryptoHasher('sha256').update(`${head}\n`).update(body).digest()
}
