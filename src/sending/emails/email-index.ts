import { createHash } from 'node:crypto'
import { fromJson, type Schema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** By what else than its id an email is found. */
export type LookedFor =
  | { readonly kind: 'tag'; readonly name: string; readonly value: string }
  /** An address, without case. */
  | { readonly kind: 'recipient'; readonly email: string }

/** What email_lookups holds for it, in an organization: 16 bytes of a SHA-256. */
export function lookupKey(organizationId: Id<'org'>, wanted: LookedFor): Buffer {
  return createHash('sha256')
    .update(`${organizationId} ${textOf(wanted)}`)
    .digest()
    .subarray(0, 16)
}

function textOf(wanted: LookedFor): string {
  // The name of a tag holds no colon.
  return wanted.kind === 'tag' ? `tag ${wanted.name}:${wanted.value}` : `recipient ${wanted.email.toLowerCase()}`
}

type Email = Pick<Schema['emails'], 'id' | 'organization_id' | 'brand_id' | 'created_at' | 'tags'>

/** All by which an email is found: each of its tags and recipients. */
export function lookupsOf(
  email: Email,
  recipients: readonly Pick<Schema['email_recipients'], 'email'>[],
): readonly Schema['email_lookups'][] {
  const wanted = [
    ...recipients.map(({ email: address }) => ({ kind: 'recipient', email: address }) as const),
    ...fromJson(email.tags).map(tag => ({ kind: 'tag', ...tag }) as const),
  ]
  const texts = new Map(wanted.map(each => [textOf(each), each]))
  return Array.from(texts.values(), each => ({
    lookup: lookupKey(email.organization_id, each),
    created_at: email.created_at,
    email_id: email.id,
    brand_id: email.brand_id,
  }))
}
