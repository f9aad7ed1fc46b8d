import { createHash } from 'node:crypto'
import { type DatabaseSchema, fromJson } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** By what else than its id an email is found. */
export type LookupTerm =
  | { readonly kind: 'tag'; readonly name: string; readonly value: string }
  /** An address, without case. */
  | { readonly kind: 'recipient'; readonly email: string }

/** What email_lookups holds for it, in an organization: 16 bytes of a SHA-256. */
export function lookupKey(organizationId: Id<'org'>, wanted: LookupTerm): Buffer {
  return createHash('sha256')
    .update(`${organizationId} ${textOf(wanted)}`)
    .digest()
    .subarray(0, 16)
}

function textOf(wanted: LookupTerm): string {
  // The name of a tag holds no colon.
  return wanted.kind === 'tag' ? `tag ${wanted.name}:${wanted.value}` : `recipient ${wanted.email.toLowerCase()}`
}

type Email = Pick<DatabaseSchema['emails'], 'id' | 'organization_id' | 'brand_id' | 'created_at' | 'tags'>

/** All by which an email is found: each of its tags and recipients. */
export function emailLookupRows(
  email: Email,
  recipients: readonly Pick<DatabaseSchema['email_recipients'], 'email'>[],
): readonly DatabaseSchema['email_lookups'][] {
  const wanted = [
    ...recipients.map(({ email: address }) => ({ kind: 'recipient', email: address }) as const),
    ...fromJson(email.tags).map(tag => ({ kind: 'tag', ...tag }) as const),
  ]
  const texts = new Map(wanted.map(each => [textOf(each), each]))
  return Array.from(texts.values(), text => ({
    lookup: lookupKey(email.organization_id, text),
    created_at: email.created_at,
    email_id: email.id,
    brand_id: email.brand_id,
  }))
}
