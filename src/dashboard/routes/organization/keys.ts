import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

export const keysRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'keys',
  validateSearch: (search): { show?: 'all' } => (search['show'] === 'all' ? { show: 'all' } : {}),
  component: lazyRouteComponent(() => import('../../screens/keys/KeysScreen.tsx'), 'KeysScreen'),
})
