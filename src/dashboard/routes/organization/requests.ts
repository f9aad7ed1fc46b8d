import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readRequestFilter } from '../../screens/requests/request-filter.ts'
import { organizationRoute } from './layout.ts'

export const requestsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'requests',
  validateSearch: readRequestFilter,
  component: lazyRouteComponent(() => import('../../screens/requests/RequestsScreen.tsx'), 'RequestsScreen'),
})
