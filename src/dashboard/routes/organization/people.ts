import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

export const peopleRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'people',
  component: lazyRouteComponent(() => import('../../screens/people/PeopleScreen.tsx'), 'PeopleScreen'),
})
