import { createHash } from 'node:crypto'
import { type DatabaseSchema, fromJson } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** What an email can be looked up by, besides its id. */
export type LookupTerm =
  | { readonly kind: 'tag'; readonly name: string; readonly value: string }
  /** An address, without case. */
  | { readonly kind: 'recipient'; readonly email: string }

/** The key of a term in email_lookups: the first 16 bytes of a SHA-256 that includes the organization. */
export function lookupKey(organizationId: Id<'org'>, term: LookupTerm): Buffer {
  return createHash('sha256')
    .update(`${organizationId} ${textOf(term)}`)
    .digest()
    .subarray(0, 16)
}

function textOf(term: LookupTerm): string {
  // The name of a tag contains no colon.
  return term.kind === 'tag' ? `tag ${term.name}:${term.value}` : `recipient ${term.email.toLowerCase()}`
}

type Email = Pick<DatabaseSchema['emails'], 'id' | 'organization_id' | 'brand_id' | 'created_at' | 'tags'>

/** The rows of an email: one for each of its tags and recipients. */
export function emailLookupRows(
  email: Email,
  recipients: readonly Pick<DatabaseSchema['email_recipients'], 'email'>[],
): readonly DatabaseSchema['email_lookups'][] {
  const terms = [
    ...recipients.map(({ email: address }) => ({ kind: 'recipient', email: address }) as const),
    ...fromJson(email.tags).map(tag => ({ kind: 'tag', ...tag }) as const),
  ]
  const distinct = new Map(terms.map(term => [textOf(term), term]))
  return Array.from(distinct.values(), term => ({
    lookup: lookupKey(email.organization_id, term),
    created_at: email.created_at,
    email_id: email.id,
    brand_id: email.brand_id,
  }))
}
