import type { SessionContext } from '../../api/session/session.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'

/** What signing in and out, and the account of a person, depend on. */
export interface SignInDeps {
  readonly db: Db
  readonly clock: Clock
  /** Seal the authenticators' secrets, and sign challenges and the cookies of known browsers. */
  readonly secrets: Secrets
}

/** What a sign-in needs of its request. */
export type SignInRequest = Pick<
  SessionContext,
  'session' | 'ip' | 'userAgent' | 'origin' | 'isSecure' | 'isLocalhost' | 'cookie' | 'setCookie'
>
