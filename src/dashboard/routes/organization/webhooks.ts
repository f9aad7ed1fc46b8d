import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

export const webhooksRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'webhooks',
  component: lazyRouteComponent(() => import('../../screens/webhooks/WebhooksScreen.tsx'), 'WebhooksScreen'),
})

/** `/app/<organization>/webhooks/<id>?status=failed&since=day` */
export const webhookRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'webhooks/$webhook',
  validateSearch: ({ status, since }): { status?: string; since?: string } => ({
    ...(typeof status === 'string' && { status }),
    ...(typeof since === 'string' && { since }),
  }),
  component: lazyRouteComponent(() => import('../../screens/webhooks/endpoint/WebhookScreen.tsx'), 'WebhookScreen'),
})
