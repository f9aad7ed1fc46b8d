import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

/** One screen for both paths, so that what is typed stays when a new message becomes a draft. */
const composeLayoutRoute = createRoute({
  getParentRoute: () => organizationRoute,
  id: 'compose',
  component: lazyRouteComponent(() => import('../../screens/mail/compose/ComposeScreen.tsx'), 'ComposeScreen'),
})

const newMessageRoute = createRoute({ getParentRoute: () => composeLayoutRoute, path: 'mail/compose' })

const draftRoute = createRoute({ getParentRoute: () => composeLayoutRoute, path: 'drafts/$draft' })

export const composeRoute = composeLayoutRoute.addChildren([newMessageRoute, draftRoute])

export const draftsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'drafts',
  component: lazyRouteComponent(() => import('../../screens/mail/compose/DraftsScreen.tsx'), 'DraftsScreen'),
})
