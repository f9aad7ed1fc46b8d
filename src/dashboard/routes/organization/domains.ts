import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

export const domainsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'domains',
  component: lazyRouteComponent(() => import('../../screens/domains/DomainsScreen.tsx'), 'DomainsScreen'),
})
