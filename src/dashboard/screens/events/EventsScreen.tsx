import { useSearch } from '@tanstack/react-router'
import { Activity, ArrowUp, Radio, SearchX, Terminal } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/actions/Button.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { KeyboardList } from '../../components/lists/KeyboardList.tsx'
import { PagedRows } from '../../components/lists/PagedRows.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { CodeBlock } from '../../components/text/CodeBlock.tsx'
import { followLine } from './curl.ts'
import { EventFilters } from './EventFilters.tsx'
import { EventRow } from './EventRow.tsx'
import { readEventFilter, typesOf } from './event-filter.ts'
import { useEventPages, useLiveEvents, useNewEvents } from './event-pages.ts'
import { eventStrings as strings } from './strings.ts'

/** `/app/<organization>/events`: what happened, newest first, or as it happens. */
export function EventsScreen() {
  const { type, live = false } = readEventFilter(useSearch({ from: '/$organization/events' }))
  const [isFollowing, setFollowing] = useState(false)
  const types = typesOf(type)
  const pages = useEventPages(types)
  const newcomers = useLiveEvents(types, live ? (pages.first?.after ?? null) : null, pages.reload)
  const rows = pages.rows && [...newcomers, ...pages.rows]
  const newer = useNewEvents(types, rows?.[0], !live && pages.rows !== null)
  const line = followLine(location.origin, null, types)
  return (
    <>
      <PageHeader
        title={strings.title}
        actions={
          <Button icon={<Terminal />} onClick={() => setFollowing(true)}>
            {strings.follow}
          </Button>
        }
      >
        {strings.hint}
      </PageHeader>
      <EventFilters {...(type && { type })} {...(live && { live })} />
      {live && (
        <p className="mb-3 flex items-center gap-1.5 text-sm text-muted">
          <Radio className="size-4 text-good" aria-hidden="true" />
          {strings.waiting}
        </p>
      )}
      {newer.count > 0 && !live && (
        <div className="mb-3 flex justify-center">
          <Button size="small" icon={<ArrowUp />} onClick={pages.reload}>
            {strings.newOnes(newer.count, newer.more)}
          </Button>
        </div>
      )}
      <PagedRows
        pages={{ ...pages, rows }}
        empty={
          type === undefined ? (
            <EmptyState
              icon={<Activity />}
              title={strings.empty}
              action={
                <div className="w-full min-w-0">
                  <CodeBlock label={strings.follow} code={line} />
                </div>
              }
            >
              {strings.emptyHint}
            </EmptyState>
          ) : (
            <EmptyState icon={<SearchX />} title={strings.emptyFiltered}>
              {pages.hasMore ? strings.noneYet : strings.emptyFilteredHint}
            </EmptyState>
          )
        }
      >
        {shown => (
          <KeyboardList label={strings.label} rows={shown} rowKey={({ id }) => id}>
            {event => <EventRow event={event} types={types} />}
          </KeyboardList>
        )}
      </PagedRows>
      <Dialog isOpen={isFollowing} onClose={() => setFollowing(false)} title={strings.follow}>
        <p className="mb-3 text-muted">{strings.followHint}</p>
        <CodeBlock label={strings.follow} code={line} />
      </Dialog>
    </>
  )
}
