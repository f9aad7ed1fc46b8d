import type { Id } from '../base/ids.ts'
import type { Scope } from './scope.ts'

/** Who asks: what a valid key says of itself, at the moment of the request. */
export interface Caller {
  readonly keyId: Id<'key'>
  readonly organizationId: Id<'org'>
  /** The one brand the key is restricted to; null: the whole organization. */
  readonly brandId: Id<'brd'> | null
  readonly scopes: ReadonlySet<Scope>
}
