import { type QueryClient, queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { answer, app } from './client.ts'
import type { components } from './generated/app.ts'
import { claimPersonal } from './personal-storage.ts'

/** Who is signed in, and what they may use. */
export type Session = components['schemas']['Session']

/** An organization that the person is a member of. */
export type OrganizationOfSession = Session['organizations'][number]

/** What a member may be granted. Owners and admins have all. */
export type Permission = OrganizationOfSession['permissions'][number]

/** A brand that the person may use. */
export type BrandOfSession = OrganizationOfSession['brands'][number]

/** The session; it refuses with `session_required` when nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => {
    const session = await answer(app.GET('/app/api/session'))
    claimPersonal(localStorage, session.user.id)
    return session
  },
  staleTime: 60_000,
})

/** Who is signed in, below a route that needs it. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data
}

/** After signing in, and after anything that answers with a session: the page goes on as that person, and knows no other. */
export function takeSession(queryClient: QueryClient, session: Session): void {
  const before = queryClient.getQueryData(sessionQuery.queryKey)
  if (before && before.user.id !== session.user.id) queryClient.clear()
  claimPersonal(localStorage, session.user.id)
  queryClient.setQueryData(sessionQuery.queryKey, session)
}
