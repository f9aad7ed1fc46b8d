import { ArrowUp, SearchX } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { KeyboardList } from '../../../components/lists/KeyboardList.tsx'
import { LoadMore } from '../../../components/lists/LoadMore.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { useShortcuts } from '../../../hooks/shortcuts.ts'
import type { InboxItem } from '../api/mail-api.ts'
import { type FolderName, mailStrings as strings } from '../strings.ts'
import type { Act } from './acts.ts'
import { BulkBar } from './BulkBar.tsx'
import { MailEmpty } from './MailEmpty.tsx'
import { MessageRow } from './MessageRow.tsx'
import { useMailList } from './mail-list-context.ts'
import { mostFound } from './message-source.ts'
import { explainSearch } from './search-syntax.ts'
import { idsBetween, nextAfter } from './snapshot.ts'

/** The list of messages, with what can be done to those that are ticked. */
export function MessagesPane({ openId }: { readonly openId: string | undefined }) {
  const { organization } = useOrganization()
  const { list, perform, mayWrite } = useMailList()
  const { source, rows, error, newMail } = list
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const [lastTicked, setLastTicked] = useState<string | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list, other rows
  useEffect(() => setTicked(new Set()), [source])

  const targets = useMemo(() => rows?.filter(row => ticked.has(row.id)) ?? [], [rows, ticked])
  const tick = (id: string, isRange: boolean) => {
    const ids = isRange && lastTicked !== null ? idsBetween(rows ?? [], lastTicked, id) : [id]
    const isAdding = !ticked.has(id)
    setTicked(before => {
      const next = new Set(before)
      for (const one of ids) isAdding ? next.add(one) : next.delete(one)
      return next
    })
    setLastTicked(id)
  }
  const act = (chosen: Act) => {
    perform(chosen, targets)
    if (chosen.kind === 'move') setTicked(new Set())
  }
  const star = (row: InboxItem) => perform({ kind: 'star', starred: !row.starred }, [row])
  useListKeys({ rows: rows ?? [], targets, isReading: openId !== undefined, mayWrite, act: perform, tick })

  const isSearch = source.search !== ''
  const title = isSearch ? strings.search : strings.folder[source.folder]
  return (
    <section aria-label={title}>
      {openId === undefined ? (
        <div className="sr-only">
          <PageHeader title={title} />
        </div>
      ) : (
        <h2 className="sr-only">{title}</h2>
      )}
      {isSearch && rows && rows.length > 0 && (
        <p className="mb-2 text-sm break-words text-muted" role="status">
          {rows.length >= mostFound ? strings.foundMost(mostFound) : strings.found(rows.length)}{' '}
          <SafeText text={searchInWords(source.search)} />
        </p>
      )}
      {mayWrite && rows && rows.length > 0 && <BulkBar targets={targets} rows={rows} onTick={setTicked} onAct={act} />}
      <div role="status" className="empty:hidden">
        {newMail.count > 0 && rows && rows.length > 0 && (
          <Button kind="primary" size="small" icon={<ArrowUp />} className="mb-2 w-full" onClick={list.showNew}>
            {strings.newMail(newMail.count, newMail.isMore)}
          </Button>
        )}
      </div>
      {error !== null && <Refusal error={error} />}
      {!rows && error === null && <SkeletonRows />}
      {rows?.length === 0 && (isSearch ? <NothingFound /> : <MailEmpty folder={source.folder} />)}
      {rows && rows.length > 0 && (
        <KeyboardList label={strings.messages} rows={rows} rowKey={({ id }) => id}>
          {row => (
            <MessageRow
              row={row}
              organizationId={organization.id}
              isOpen={row.id === openId}
              isTicked={ticked.has(row.id)}
              mayWrite={mayWrite}
              showsFolder={isSearch}
              onTick={tick}
              onStar={star}
            />
          )}
        </KeyboardList>
      )}
      <LoadMore hasMore={list.hasMore} isLoading={list.isLoadingMore} onMore={list.loadMore} />
    </section>
  )
}

/** How the search was understood: with these words and phrases, without those. */
function searchInWords(search: string): string {
  const { words, phrases, without } = explainSearch(search)
  const required = [...words, ...phrases.map(strings.phrase)]
  return [strings.withAll(required), ...(without.length > 0 ? [strings.without(without)] : [])].join(', ')
}

function NothingFound() {
  return (
    <EmptyState icon={<SearchX />} title={strings.nothingFound}>
      {strings.nothingFoundHint}
    </EmptyState>
  )
}

interface ListKeys {
  readonly rows: readonly InboxItem[]
  readonly targets: readonly InboxItem[]
  readonly isReading: boolean
  readonly mayWrite: boolean
  readonly act: (act: Act, targets: readonly InboxItem[]) => void
  readonly tick: (id: string, isRange: boolean) => void
}

/** The keys of the list: they mean what is ticked, else the row that has the focus. An open message has its own. */
function useListKeys({ rows, targets, isReading, mayWrite, act, tick }: ListKeys): void {
  const focused = () => {
    const link = document.activeElement?.closest('li')?.querySelector<HTMLAnchorElement>('[data-open]')
    const id = link?.href.split('/m/')[1]?.split(/[?#]/)[0]
    return rows.find(row => row.id === id)
  }
  const meant = () => {
    const row = focused()
    return targets.length > 0 ? targets : row ? [row] : []
  }
  const move = (folder: FolderName) => {
    const moved = meant()
    const next = nextAfter(rows, new Set(moved.map(row => row.id)))
    act({ kind: 'move', folder }, moved)
    // The row that takes its place has the focus, so that one can go on.
    if (next !== null)
      requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-open][href*="/m/${next}"]`)?.focus())
  }
  const tickFocused = () => {
    const row = focused()
    if (row) tick(row.id, false)
  }
  const keys = [
    { key: 'x', label: strings.keySelect, run: () => tickFocused() },
    { key: 'e', label: strings.archive, run: () => move('archive') },
    { key: '#', label: strings.trash, run: () => move('trash') },
    {
      key: 's',
      label: strings.star,
      run: () => act({ kind: 'star', starred: !meant().every(row => row.starred) }, meant()),
    },
    {
      key: 'u',
      label: strings.markUnread,
      run: () => act({ kind: 'read', read: meant().some(row => !row.read) }, meant()),
    },
  ]
  useShortcuts(strings.keys, isReading || !mayWrite ? [] : keys)
}
