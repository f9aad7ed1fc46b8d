import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from './root.tsx'

/** `/app/sign-in?next=…`: the page that was wanted comes after it. */
export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'sign-in',
  validateSearch: (search): { next?: string } => (isOwnPath(search['next']) ? { next: search['next'] } : {}),
  component: lazyRouteComponent(() => import('../screens/sign-in/SignInScreen.tsx'), 'SignInScreen'),
})

/** A link from elsewhere must not lead out of the dashboard. */
function isOwnPath(next: unknown): next is string {
  return typeof next === 'string' && next.startsWith('/') && !next.startsWith('//') && !next.includes('\\')
}
