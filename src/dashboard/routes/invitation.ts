import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from './root.tsx'

/** `/app/invitation#<token>`: the link of an invitation. */
export const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'invitation',
  component: lazyRouteComponent(() => import('../screens/invitation/InvitationScreen.tsx'), 'InvitationScreen'),
})
