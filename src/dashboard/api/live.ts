import type { QueryClient } from '@tanstack/react-query'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

/**
 * Listens to `/app/api/live`: server-sent events that only name what changed, such as `messages`. Each makes stale, and so
 * loads again where it is shown, what has that name as the first element of its query key. After a pause in the connection
 * everything is loaded again, so that nothing is missed.
 * @param organizationId the organization to hear of; null: the instance
 */
export function useLive(organizationId: string | null): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    const query = organizationId === null ? '' : `?organization=${encodeURIComponent(organizationId)}`
    const source = new EventSource(`/app/api/live${query}`)
    let wasOpen = false
    source.onopen = () => {
      if (wasOpen) void queryClient.invalidateQueries()
      wasOpen = true
    }
    source.onmessage = event => invalidate(queryClient, event.data)
    return () => source.close()
  }, [organizationId, queryClient])
}

function invalidate(queryClient: QueryClient, text: string): void {
  for (const name of text.split(',')) void queryClient.invalidateQueries({ queryKey: [name.trim()] })
}
