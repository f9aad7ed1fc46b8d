import type { Role } from '../base/database/schema.ts'
import type { Id } from '../base/ids.ts'
import type { Scope } from './scope.ts'
import type { Tenant } from './tenant.ts'

/** An authenticated API key: what it, and the member behind it, may do at the moment of the request. */
export interface Caller extends Tenant {
  readonly keyId: Id<'key'>
  /** The scopes of the key that its member has as well. */
  readonly scopes: ReadonlySet<Scope>
  /** The member who owns the key, or who created it for the organization; null: the operator's command line. */
  readonly memberId: Id<'mem'> | null
  /** The member's role now: `owner` for the operator's command line, `member` for a member who was removed. */
  readonly role: Role
  /** Why this valid key may not be used at the moment; null: it may. */
  readonly denial: AccessDenial | null
}

/** A permission that the key needs and its member no longer has. */
export interface AccessDenial {
  readonly code: 'insufficient_scope' | 'brand_restricted'
  readonly message: string
}
