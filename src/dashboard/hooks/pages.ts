import { type QueryKey, useInfiniteQuery, useQuery } from '@tanstack/react-query'

/** A page of a list, as every list of the API has it. */
export interface Page<Row> {
  readonly data: readonly Row[]
  readonly next_cursor: string | null
}

/** A list with "more": for `LoadMore`. */
export interface Pages<Row, First = Page<Row>> {
  /** null: the first page has not come yet. */
  readonly rows: readonly Row[] | null
  /** The first page with what else it has; null: it has not come yet. */
  readonly first: First | null
  readonly error: Error | null
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly loadMore: () => void
  readonly reload: () => void
}

interface PagesOptions {
  /** How often it is loaded again, for what changes by itself and is not told of; absent: it is not. */
  readonly refetchMs?: number
  /** It stays as it was when it was opened, until somebody asks for what came since. */
  readonly isSnapshot?: boolean
}

/**
 * Loads a list page by page.
 * @param load gets the cursor of the page; undefined: the first
 */
export function usePages<Row, First extends Page<Row> = Page<Row>>(
  queryKey: QueryKey,
  load: (cursor: string | undefined) => Promise<First & Page<Row>>,
  { refetchMs, isSnapshot = false }: PagesOptions = {},
): Pages<Row, First> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next_cursor ?? undefined,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
    ...(isSnapshot && { staleTime: 'static', gcTime: 0 }),
  })
  return {
    rows: query.data?.pages.flatMap(page => page.data) ?? null,
    first: query.data?.pages[0] ?? null,
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    reload: () => void query.refetch(),
  }
}

const newestMs = 10_000
const mostNew = 20

/**
 * Counts what came since a snapshot; `more`: at least so many.
 * @param load gets how many of the newest rows to load
 * @param isAsked false: nobody wants to know now
 */
export function useNewRows<Row>(
  queryKey: QueryKey,
  load: (limit: number) => Promise<Pick<Page<Row>, 'data'>>,
  isNew: (row: Row) => boolean,
  isAsked = true,
): { readonly count: number; readonly more: boolean } {
  const { data } = useQuery({
    queryKey,
    queryFn: () => load(mostNew),
    refetchInterval: newestMs,
    enabled: isAsked,
  })
  const count = data?.data.filter(isNew).length ?? 0
  return { count, more: count === mostNew }
}
