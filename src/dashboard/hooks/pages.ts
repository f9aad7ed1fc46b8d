import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'

/** A page of a list, as every list of the API has it. */
export interface Page<Row> {
  readonly data: readonly Row[]
  readonly next_cursor: string | null
}

/** A list with "more": for `LoadMore`. */
export interface Pages<Row> {
  /** null: the first page has not come yet. */
  readonly rows: readonly Row[] | null
  readonly error: Error | null
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly loadMore: () => void
  readonly reload: () => void
}

/**
 * Loads a list page by page.
 * @param load gets the cursor of the page; undefined: the first
 * @param refetchMs how often it is loaded again, for what changes by itself and is not told of; absent: it is not
 */
export function usePages<Row>(
  queryKey: QueryKey,
  load: (cursor: string | undefined) => Promise<Page<Row>>,
  refetchMs?: number,
): Pages<Row> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next_cursor ?? undefined,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
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
