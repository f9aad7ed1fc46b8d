import type { QueryClient } from '@tanstack/react-query'
import { type ParsedLocation, redirect } from '@tanstack/react-router'
import { isRefusal } from '../api/errors.ts'
import { type Session, sessionQuery } from '../api/session.ts'

/** For `beforeLoad` of a route that needs a session: who is signed in; whoever is not is sent to the sign-in screen. */
export async function requireSession(queryClient: QueryClient, location: ParsedLocation): Promise<Session> {
  const session = await queryClient.ensureQueryData(sessionQuery).catch((error: unknown) => {
    if (isRefusal(error, 'session_required')) throw redirect({ to: '/sign-in', search: { next: location.href } })
    throw error
  })
  if (session.needs_factor && location.pathname !== '/app/account' && location.pathname !== '/account')
    throw redirect({ to: '/account' })
  return session
}
