import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

/** `/app/<organization>/domains/<id>?tab=records` */
export const domainRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'domains/$domain',
  validateSearch: (search): { tab?: 'records' } => (search['tab'] === 'records' ? { tab: 'records' } : {}),
  component: lazyRouteComponent(() => import('../../screens/domains/DomainScreen.tsx'), 'DomainScreen'),
})
