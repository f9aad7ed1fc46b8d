import type { Role } from '../base/database/schema.ts'
import type { Id } from '../base/ids.ts'
import type { Scope } from './scope.ts'
import type { Tenant } from './tenant.ts'

/**
 * Who makes an authenticated request: an API key, or a member who is signed in to the dashboard. What they, and the member
 * behind the key, may do at the moment of the request.
 */
export interface Caller extends Tenant {
  /** null: a member in the dashboard. */
  readonly keyId: Id<'key'> | null
  /** The scopes of the key that its member has as well; of a member in the dashboard, all of theirs. */
  readonly scopes: ReadonlySet<Scope>
  /**
   * The member in the dashboard, the member who owns the key, or who created it for the organization; null: the operator's
   * command line.
   */
  readonly memberId: Id<'mem'> | null
  /** The member's role now: `owner` for the operator's command line, `member` for a member who was removed. */
  readonly role: Role
  /** Why this valid key may not be used at the moment; null: it may. */
  readonly denial: AccessDenial | null
  /** The person who is signed in to the dashboard; absent: an API key. */
  readonly person?: CallerPerson
}

/** A person for the audit log: who they are, and the address that the request came from. */
export interface CallerPerson {
  readonly email: string
  readonly ip: string
}

/** A permission that the key needs and its member no longer has. */
export interface AccessDenial {
  readonly code: 'insufficient_scope' | 'brand_restricted'
  readonly message: string
}
