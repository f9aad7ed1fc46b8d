import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from './api/query-client.ts'
import { startShortcuts } from './hooks/shortcuts.ts'
import { applyTheme } from './hooks/theme.ts'
import { createDashboardRouter } from './router.tsx'

applyTheme()
startShortcuts()
const queryClient = createQueryClient()
const router = createDashboardRouter(queryClient)

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')
createRoot(root).render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
)
