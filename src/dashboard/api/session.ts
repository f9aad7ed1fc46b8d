import { type QueryClient, queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { requestJson } from './request.ts'

/** A brand that the person may use. */
export interface BrandOfSession {
  readonly id: string
  readonly name: string
  readonly slug: string
}

/** An organization that the person is a member of. */
export interface OrganizationOfSession {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly role: 'owner' | 'admin' | 'member'
  readonly member_id: string
  readonly permissions: readonly string[]
  readonly has_api_access: boolean
  readonly brands: readonly BrandOfSession[]
}

/** Who is signed in (`GET /app/api/session`). */
export interface Session {
  readonly user: { readonly id: string; readonly email: string; readonly name: string }
  readonly is_operator: boolean
  /** Must add a passkey or an authenticator before anything else. */
  readonly needs_factor: boolean
  readonly is_confirmed: boolean
  readonly is_localhost: boolean
  readonly organizations: readonly OrganizationOfSession[]
}

/** The session; it refuses with `session_required` when nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => requestJson<Session>('GET', '/app/api/session'),
  staleTime: 60_000,
})

/** Who is signed in, below a route that needs it. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data
}

/** After signing in, and after anything that answers with a session: the page goes on as that person. */
export function takeSession(queryClient: QueryClient, session: Session): void {
  queryClient.setQueryData(sessionQuery.queryKey, session)
}
