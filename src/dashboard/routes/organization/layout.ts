import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { rootRoute } from '../root.tsx'
import { requireSession } from '../signed-in.ts'

/** `/app/<organization>?brand=…`: the house of an organization. The brand is a filter that stays while one goes about. */
export const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '$organization',
  validateSearch: (search): { brand?: string } =>
    typeof search['brand'] === 'string' ? { brand: search['brand'] } : {},
  beforeLoad: async ({ context, location, params }) => {
    const session = await requireSession(context.queryClient, location)
    const organization = session.organizations.find(({ id }) => id === params.organization)
    if (!organization) throw notFound()
    return { session, organization }
  },
  component: lazyRouteComponent(() => import('../../shell/OrganizationLayout.tsx'), 'OrganizationLayout'),
})
