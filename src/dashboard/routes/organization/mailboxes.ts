import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

export const mailboxesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'mailboxes',
  component: lazyRouteComponent(() => import('../../screens/mailboxes/MailboxesScreen.tsx'), 'MailboxesScreen'),
})
