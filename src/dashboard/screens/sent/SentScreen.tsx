import { useNavigate, useSearch } from '@tanstack/react-router'
import { ArrowUp, Download, SearchX } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/actions/Button.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { KeyboardList } from '../../components/lists/KeyboardList.tsx'
import { PagedRows } from '../../components/lists/PagedRows.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { SentEmpty } from './list/SentEmpty.tsx'
import { SentFilters } from './list/SentFilters.tsx'
import { SentRow } from './list/SentRow.tsx'
import { useNewSent, useSentPages } from './list/sent-pages.ts'
import { useSentExport } from './list/useSentExport.ts'
import type { SentFilter } from './sent-filter.ts'
import { sentStrings as strings } from './strings.ts'

/** `/app/<organization>/sent`. */
export function SentScreen() {
  const { organization } = useOrganization()
  const { status = null, tag = null } = useSearch({ from: '/$organization/sent' })
  const navigate = useNavigate({ from: '/$organization/sent' })
  const [recipient, setRecipient] = useState<string | null>(null)
  const filter: SentFilter = { status, tag, recipient }
  const pages = useSentPages(filter)
  const { rows, reload } = pages
  const newer = useNewSent(filter, rows?.[0])
  const download = useSentExport(filter)
  const isFiltered = status !== null || tag !== null || recipient !== null
  const change = (next: SentFilter) => {
    setRecipient(next.recipient)
    void navigate({
      search: ({ brand }: { brand?: string }) => ({
        ...(brand !== undefined && { brand }),
        ...(next.status !== null && { status: next.status }),
        ...(next.tag !== null && { tag: next.tag }),
      }),
    })
  }
  return (
    <>
      <PageHeader
        title={strings.title}
        actions={
          rows !== null &&
          rows.length > 0 && (
            <Button icon={<Download />} isBusy={download.isBusy} onClick={download.start}>
              {strings.exportCsv}
            </Button>
          )
        }
      >
        {strings.hint}
      </PageHeader>
      {(isFiltered || rows === null || rows.length > 0) && <SentFilters filter={filter} onFilter={change} />}
      {download.error !== null && <Refusal error={download.error} />}
      {newer.count > 0 && rows !== null && (
        <div className="mb-3 flex justify-center">
          <Button size="small" icon={<ArrowUp />} onClick={reload}>
            {strings.newOnes(newer.count, newer.more)}
          </Button>
        </div>
      )}
      <PagedRows
        pages={pages}
        empty={
          isFiltered ? (
            <EmptyState icon={<SearchX />} title={strings.noMatch}>
              {pages.hasMore ? strings.noneYet : strings.noMatchHint}
            </EmptyState>
          ) : (
            <SentEmpty />
          )
        }
      >
        {shown => (
          <KeyboardList label={strings.label} rows={shown} rowKey={({ id }) => id}>
            {email => <SentRow email={email} organization={organization.id} />}
          </KeyboardList>
        )}
      </PagedRows>
    </>
  )
}
