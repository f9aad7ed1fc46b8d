import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from './root.tsx'
import { requireSession } from './signed-in.ts'

/** `/app/account`: the person's own things, the same in every organization and for operators who are in none. */
export const accountLayoutRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'account',
  beforeLoad: async ({ context, location }) => ({ session: await requireSession(context.queryClient, location) }),
  component: lazyRouteComponent(() => import('../shell/AccountLayout.tsx'), 'AccountLayout'),
})

/** `/app/account`. */
export const accountRoute = createRoute({
  getParentRoute: () => accountLayoutRoute,
  path: '/',
  component: lazyRouteComponent(() => import('../screens/account/AccountScreen.tsx'), 'AccountScreen'),
})
