import { QueryClient } from '@tanstack/react-query'
import { ApiError, ServerAwayError } from './errors.ts'
import { onServerBack } from './server-away.ts'

const mostRetries = 2

/** The page's cache of what the server answered. Reads that found the server away are repeated when it is back. */
export function createQueryClient(): QueryClient {
  const queryClient = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        networkMode: 'always',
        retry: (failures, error) =>
          failures < mostRetries &&
          error instanceof ApiError &&
          error.isRetryable &&
          !(error instanceof ServerAwayError),
      },
      mutations: { networkMode: 'always' },
    },
  })
  onServerBack(() => void queryClient.invalidateQueries())
  return queryClient
}
