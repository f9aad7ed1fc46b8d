import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { isReason, type Reason } from '../../screens/suppressions/suppression.ts'
import { organizationRoute } from './layout.ts'

export const suppressionsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'suppressions',
  validateSearch: ({ reason }): { reason?: Reason } => (isReason(reason) ? { reason } : {}),
  component: lazyRouteComponent(
    () => import('../../screens/suppressions/SuppressionsScreen.tsx'),
    'SuppressionsScreen',
  ),
})
