import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answer, linkTo, type OrganizationApi } from '../../api/client.ts'
import { queryKey } from '../../api/keys.ts'
import { useOrganization } from '../../hooks/organization.ts'
import type { Pages } from '../../hooks/pages.ts'
import type { FeedEvent } from './event.ts'

const newestMs = 10_000
const mostNew = 20
const reopenMs = 5_000
/** So many are shown of what comes in live; the list has the others when it is loaded again. */
const mostLive = 500

/** The newest events, and the cursor from which on the feed has what comes after them. */
export interface EventPages extends Pages<FeedEvent> {
  readonly after: string | null
}

function load({ app }: OrganizationApi, types: readonly string[], more: { cursor?: string; limit?: number } = {}) {
  const query = { ...(types.length > 0 && { types: types.join(',') }), ...more }
  return answer(app.GET('/app/api/events', { params: { query } }))
}

/** The events of these types as they were when the list was opened, newest first. No types: all. */
export function useEventPages(types: readonly string[]): EventPages {
  const { api } = useOrganization()
  const query = useInfiniteQuery({
    queryKey: queryKey('events-snapshot', api, types),
    queryFn: ({ pageParam }) => load(api, types, pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: page => page.next_cursor,
    staleTime: 'static',
    gcTime: 0,
  })
  return {
    rows: query.data?.pages.flatMap(page => page.data) ?? null,
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    reload: () => void query.refetch(),
    after: query.data?.pages[0]?.after ?? null,
  }
}

/** How many events of these types came after `newest`; `more`: at least so many. */
export function useNewEvents(types: readonly string[], newest: FeedEvent | undefined, isAsked: boolean) {
  const { api } = useOrganization()
  const { data } = useQuery({
    queryKey: queryKey('events', api, 'newest', types),
    queryFn: () => load(api, types, { limit: mostNew }),
    refetchInterval: newestMs,
    enabled: isAsked,
  })
  const since = newest?.sequence ?? 0
  const count = data?.data.filter(({ sequence }) => sequence > since).length ?? 0
  return { count, more: count === mostNew }
}

/** Listens to the feed from a cursor on, while `after` is not null: what came since, newest first. */
export function useLiveEvents(types: readonly string[], after: string | null, onRefused: () => void) {
  const { api } = useOrganization()
  const [events, setEvents] = useState<readonly FeedEvent[]>([])
  const typeList = types.join(',')
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onRefused` is new at every rendering
  useEffect(() => {
    setEvents([])
    if (after === null) return
    const query = { after, ...(typeList && { types: typeList }) }
    const source = new EventSource(linkTo(api, '/app/api/v1/events', query))
    source.onmessage = ({ data, lastEventId }) => {
      const event: FeedEvent = { ...JSON.parse(String(data)), cursor: lastEventId }
      setEvents(known => [event, ...known].slice(0, mostLive))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    // The browser connects again by itself, but not after a refusal: a cursor too old, a session that ended.
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(onRefused, reopenMs)
    }
    return () => {
      source.close()
      clearTimeout(timer)
    }
  }, [api, typeList, after])
  return events
}
