import type { QueryClient } from '@tanstack/react-query'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

const reopenMs = 10_000

/**
 * Listens to `/app/api/live`: server-sent events that only name what changed: `messages,emails`. Each makes stale, and so loads
 * again where it is shown, what has that name as the first element of its query key. A page that was away is told of all
 * topics, so that nothing is missed.
 * @param organizationId the organization to hear of; null: the instance
 */
export function useLive(organizationId: string | null): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    const query = organizationId === null ? '' : `?organization=${encodeURIComponent(organizationId)}`
    let source: EventSource | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let wasClosed = false
    const open = () => {
      source = new EventSource(`/app/api/live${query}`)
      source.onopen = () => {
        // A new stream does not know that this page has heard before.
        if (wasClosed) void queryClient.invalidateQueries()
        wasClosed = false
      }
      source.onmessage = ({ data }) => invalidate(queryClient, String(data))
      // The browser connects again by itself, but not after a refusal: a session that ended, too many pages.
      source.onerror = () => {
        if (source?.readyState !== EventSource.CLOSED) return
        wasClosed = true
        timer = setTimeout(open, reopenMs)
      }
    }
    open()
    return () => {
      source?.close()
      clearTimeout(timer)
    }
  }, [organizationId, queryClient])
}

function invalidate(queryClient: QueryClient, topics: string): void {
  for (const topic of topics.split(',')) void queryClient.invalidateQueries({ queryKey: [topic.trim()] })
}
