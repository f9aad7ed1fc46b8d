import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

export const newDomainRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'domains/new',
  component: lazyRouteComponent(() => import('../../screens/domains/NewDomainScreen.tsx'), 'NewDomainScreen'),
})
