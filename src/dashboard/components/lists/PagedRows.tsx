import type { ReactNode } from 'react'
import type { Pages } from '../../hooks/pages.ts'
import { Refusal } from '../feedback/Refusal.tsx'
import { SkeletonRows } from '../feedback/Skeleton.tsx'
import { LoadMore } from './LoadMore.tsx'

interface PagedRowsProps<Row> {
  readonly pages: Omit<Pages<Row>, 'first' | 'reload'>
  /** Shown where there is no row. */
  readonly empty: ReactNode
  readonly children: (rows: readonly Row[]) => ReactNode
}

/** A list that is loaded page by page: its rows, or why they are not there, and the way to more. */
export function PagedRows<Row>({ pages, empty, children }: PagedRowsProps<Row>) {
  const { rows, error, hasMore, isLoadingMore, loadMore } = pages
  return (
    <>
      {error && <Refusal error={error} />}
      {rows === null && !error && <SkeletonRows />}
      {rows !== null && (rows.length === 0 ? empty : children(rows))}
      <LoadMore hasMore={hasMore} isLoading={isLoadingMore} onMore={loadMore} />
    </>
  )
}
