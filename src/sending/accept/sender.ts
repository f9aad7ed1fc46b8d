import type { Tenant } from '../../api/tenant.ts'
import type { Id } from '../../base/ids.ts'

/** Who sends: a key's organization, and the one brand that the key is restricted to. */
export interface AuthorizedSender extends Tenant {
  /** null: not by a key. */
  readonly keyId: Id<'key'> | null
}
