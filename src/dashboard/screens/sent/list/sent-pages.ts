import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { answer } from '../../../api/client.ts'
import type { components } from '../../../api/generated/v1.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import type { Pages } from '../../../hooks/pages.ts'
import { filterParams, type SentFilter } from '../sent-filter.ts'

/** An email in the list. */
export type SentEmail = components['schemas']['EmailItem']

const newestMs = 10_000
const mostNew = 20

/** The emails that a filter matches as they were when the list was opened: it changes only when one asks for it. */
export function useSentPages(filter: SentFilter): Pages<SentEmail> {
  const { api } = useOrganization()
  const query = useInfiniteQuery({
    queryKey: ['sent-snapshot', api.organizationId, api.brandId, filter],
    queryFn: ({ pageParam }) =>
      answer(
        api.v1.GET('/v1/emails', {
          params: { query: { ...filterParams(filter), ...(pageParam !== null && { before: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: page => page.next_before,
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
  }
}

/** How many emails that the filter matches came after `newest`, the first of the list; `more`: at least so many. */
export function useNewSent(filter: SentFilter, newest: SentEmail | undefined) {
  const { api } = useOrganization()
  const { data } = useQuery({
    queryKey: ['emails', 'newest', api.organizationId, api.brandId, filter],
    queryFn: () => answer(api.v1.GET('/v1/emails', { params: { query: { ...filterParams(filter), limit: mostNew } } })),
    refetchInterval: newestMs,
  })
  const since = newest?.created_at ?? ''
  const count = data?.data.filter(email => email.created_at > since).length ?? 0
  return { count, more: count === mostNew }
}
