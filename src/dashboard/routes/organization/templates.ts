import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from './layout.ts'

export const templatesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'templates',
  component: lazyRouteComponent(() => import('../../screens/templates/TemplatesScreen.tsx'), 'TemplatesScreen'),
})

export const templateRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'templates/$slug',
  component: lazyRouteComponent(() => import('../../screens/templates/TemplateScreen.tsx'), 'TemplateScreen'),
})
