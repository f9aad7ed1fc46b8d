import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { OrganizationApi } from '../../../api/client.ts'
import type { InboxItem } from '../api/mail-api.ts'
import { isNewer, loadMessages, type MessageSource, pageSize } from './message-source.ts'
import { applyChange, type RowChange, restoreRows } from './snapshot.ts'

/** The list as it was loaded: it changes only by what the person does. */
export interface MessageList {
  readonly source: MessageSource
  /** null: it is loading. */
  readonly rows: readonly InboxItem[] | null
  readonly error: unknown
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly loadMore: () => void
  /** Messages that came since; `isMore`: and others. */
  readonly newMail: { readonly count: number; readonly isMore: boolean }
  /** Shows them. */
  readonly showNew: () => void
  readonly reload: () => void
  /** Draws an act. Returns how to take it back. */
  readonly apply: (ids: readonly string[], change: RowChange) => () => void
}

interface Snapshot {
  readonly key: string
  readonly rows: readonly InboxItem[]
  readonly next: InboxItem | null
  /** The newest message when it was loaded, or when new ones were shown last; null: there was none. */
  readonly newest: InboxItem | null
}

/**
 * Loads a list of messages, page by page. What comes later is only counted, until the person wants to see it; an empty list
 * shows it at once, since there is no row that one could miss.
 */
export function useMessageList(api: OrganizationApi, source: MessageSource): MessageList {
  const key = JSON.stringify([api.organizationId, api.brandId, source.folder, source.mailboxId, source.search])
  const [snapshot, setSnapshot] = useState<Snapshot | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [isLoadingMore, setLoadingMore] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const current = useRef(key)
  current.current = key

  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the source, `attempt` for a reload
  useEffect(() => {
    let isWanted = true
    setError(null)
    loadMessages(api, source, null).then(
      ({ rows, next }) => isWanted && setSnapshot({ key, rows, next, newest: rows[0] ?? null }),
      (thrown: unknown) => isWanted && setError(thrown),
    )
    return () => {
      isWanted = false
    }
  }, [key, attempt])

  const shown = snapshot?.key === key ? snapshot : null
  const reload = useCallback(() => setAttempt(count => count + 1), [])

  const { data: latest } = useQuery({
    queryKey: ['messages', 'newest', key],
    queryFn: () => loadMessages(api, source, null),
    enabled: shown !== null && source.search === '',
    staleTime: 0,
  })
  const arrived = useMemo(() => {
    if (!shown || !latest) return []
    const known = new Set(shown.rows.map(row => row.id))
    return latest.rows.filter(row => !known.has(row.id) && (!shown.newest || isNewer(row, shown.newest)))
  }, [shown, latest])

  const showNew = useCallback(() => {
    if (arrived.length >= pageSize) return reload()
    setSnapshot(before =>
      before?.key === key
        ? { ...before, rows: [...arrived, ...before.rows], newest: arrived[0] ?? before.newest }
        : before,
    )
  }, [arrived, key, reload])

  const isEmpty = shown?.rows.length === 0
  useEffect(() => {
    if (isEmpty && arrived.length > 0) showNew()
  }, [isEmpty, arrived, showNew])

  const loadMore = () => {
    if (!shown?.next || isLoadingMore) return
    setLoadingMore(true)
    loadMessages(api, source, shown.next)
      .then(
        ({ rows, next }) =>
          setSnapshot(before => {
            if (before?.key !== key) return before
            const known = new Set(before.rows.map(row => row.id))
            return { ...before, rows: [...before.rows, ...rows.filter(row => !known.has(row.id))], next }
          }),
        setError,
      )
      .finally(() => setLoadingMore(false))
  }

  const folder = source.search === '' ? source.folder : null
  const apply = useCallback(
    (ids: readonly string[], change: RowChange) => {
      const of = new Set(ids)
      let before: readonly InboxItem[] = []
      setSnapshot(now => {
        if (!now) return now
        before = now.rows
        return { ...now, rows: applyChange(now.rows, of, change as Partial<InboxItem>, folder) }
      })
      return () => setSnapshot(now => (now?.key === key ? { ...now, rows: restoreRows(now.rows, before, of) } : now))
    },
    [folder, key],
  )

  return {
    source,
    rows: shown?.rows ?? null,
    error,
    hasMore: shown?.next != null,
    isLoadingMore,
    loadMore,
    newMail: { count: arrived.length, isMore: arrived.length >= pageSize },
    showNew,
    reload,
    apply,
  }
}
