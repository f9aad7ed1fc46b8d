import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from './root.tsx'

/** `/app/welcome#<token>`: a login link. The token is in the fragment, which browsers send to nobody. */
export const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'welcome',
  component: lazyRouteComponent(() => import('../screens/welcome/WelcomeScreen.tsx'), 'WelcomeScreen'),
})
