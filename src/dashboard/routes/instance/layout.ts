import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { rootRoute } from '../root.tsx'
import { requireSession } from '../signed-in.ts'

/** `/app/instance`: the house of the operators. To others it is not there. */
export const instanceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'instance',
  beforeLoad: async ({ context, location }) => {
    const session = await requireSession(context.queryClient, location)
    if (!session.is_operator) throw notFound()
    return { session }
  },
  component: lazyRouteComponent(() => import('../../shell/InstanceLayout.tsx'), 'InstanceLayout'),
})
