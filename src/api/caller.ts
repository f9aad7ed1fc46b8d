import type { Role } from '../base/database/schema.ts'
import type { Id } from '../base/ids.ts'
import type { Scope } from './scope.ts'
import type { Tenant } from './tenant.ts'

/** Who asks: what a valid key and the person behind it may do, at the moment of the request. */
export interface Caller extends Tenant {
  readonly keyId: Id<'key'>
  /** Those of the key that the person behind it has too. */
  readonly scopes: ReadonlySet<Scope>
  /** The member whose key it is, or who made it for the organization; null: the operator's command line. */
  readonly memberId: Id<'mem'> | null
  /** What they are now: the command line counts as owner, and who was removed no longer stands above anyone. */
  readonly role: Role
  /** Why the key, though valid, may do nothing at this moment; null: it may do what its scopes say. */
  readonly denial: AccessDenial | null
}

/** What a member lost that their key cannot do without. */
export interface AccessDenial {
  readonly code: 'insufficient_scope' | 'brand_restricted'
  readonly message: string
}
