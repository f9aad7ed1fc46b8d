import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext } from '@tanstack/react-router'
import { Root } from '../shell/Root.tsx'

/** The top of all routes. */
export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({ component: Root })
