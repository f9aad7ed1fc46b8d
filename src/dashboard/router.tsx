import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { routeTree } from './routes/tree.ts'
import { NotFound } from './shell/pages/NotFound.tsx'
import { Pending } from './shell/pages/Pending.tsx'
import { ScreenError } from './shell/pages/ScreenError.tsx'

/** The page's router: every screen below `/app`, in a chunk of its own, fetched when a link to it has the pointer or the focus. */
export function createDashboardRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/app',
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingMs: 300,
    scrollRestoration: true,
    trailingSlash: 'never',
    defaultPendingComponent: Pending,
    defaultNotFoundComponent: NotFound,
    defaultErrorComponent: ScreenError,
  })
}
