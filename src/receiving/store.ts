import type { Id } from '../base/ids.ts'
import type { Blobs, StoredBlob } from '../ports/blobs/port.ts'
import type { Incoming } from './incoming.ts'

/** Keeps the bytes, once for each organization that has a recipient. */
export async function store(mail: Incoming, blobs: Blobs): Promise<ReadonlyMap<Id<'org'>, StoredBlob>> {
  const organizations = [...new Set(mail.recipients.map(each => each.organizationId))]
  const stored = await Promise.all(organizations.map(id => blobs.store(id, mail.content)))
  return new Map(stored.map((blob, i) => [organizations[i] as Id<'org'>, blob]))
}
