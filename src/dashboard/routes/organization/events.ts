import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

/** `/app/<organization>/events?type=email.bounced&live=true`. The screen knows the types: they are not in the page's first script. */
export const eventsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'events',
  validateSearch: ({ type, live }): { type?: string; live?: true } => ({
    ...(typeof type === 'string' && { type }),
    ...(live === true && { live }),
  }),
  component: lazyRouteComponent(() => import('../../screens/events/EventsScreen.tsx'), 'EventsScreen'),
})
