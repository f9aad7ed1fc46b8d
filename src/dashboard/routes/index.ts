import { createRoute, redirect } from '@tanstack/react-router'
import { NoOrganization } from '../shell/pages/NoOrganization.tsx'
import { rootRoute } from './root.tsx'
import { requireSession } from './signed-in.ts'

/** `/app`: leads to the first organization, or to the instance for an operator who is in none. */
export const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async ({ context, location }) => {
    const { organizations, is_operator } = await requireSession(context.queryClient, location)
    const [first] = organizations
    if (first) throw redirect({ to: '/$organization', params: { organization: first.id } })
    if (is_operator) throw redirect({ to: '/instance' })
  },
  component: NoOrganization,
})
