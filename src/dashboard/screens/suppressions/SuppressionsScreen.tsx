import { useNavigate, useSearch } from '@tanstack/react-router'
import { Ban, Download, Ellipsis, Plus, Undo2, Upload } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { downloadFile } from '../../api/download.ts'
import { Button } from '../../components/actions/Button.tsx'
import { IconButton } from '../../components/actions/IconButton.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Segmented } from '../../components/fields/Segmented.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { PagedRows } from '../../components/lists/PagedRows.tsx'
import { Menu, MenuItem } from '../../components/overlays/Menu.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { usePages } from '../../hooks/pages.ts'
import { AddDialog } from './AddDialog.tsx'
import { CheckForm } from './CheckForm.tsx'
import { ImportDialog } from './import/ImportDialog.tsx'
import { ImportNotice } from './import/ImportNotice.tsx'
import { UndoDialog } from './incident/UndoDialog.tsx'
import { SuppressionTable } from './SuppressionTable.tsx'
import { suppressionStrings as strings } from './strings.ts'
import { isReason, type Reason, type Suppression } from './suppression.ts'

type OpenDialog = 'add' | 'import' | 'undo'

/** `/app/<organization>/suppressions`: to whom nothing is sent, and why. */
export function SuppressionsScreen() {
  const { api, may } = useOrganization()
  const { reason } = useSearch({ from: '/$organization/suppressions' })
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const [error, setError] = useState<unknown>(null)
  const list = usePages<Suppression>(['suppressions', api.organizationId, api.brandId, reason], cursor =>
    answer(
      api.v1.GET('/v1/suppressions', {
        params: { query: { ...(reason && { reason }), ...(cursor !== undefined && { cursor }) } },
      }),
    ),
  )
  const mayWrite = may('suppressions:write')
  const download = () => {
    setError(null)
    downloadFile('/app/api/suppressions.csv', { ...api, query: { reason } }).catch(setError)
  }
  return (
    <>
      <PageHeader
        title={strings.title}
        actions={
          <>
            <Menu button={<IconButton label={strings.more} icon={<Ellipsis />} />}>
              {mayWrite && (
                <MenuItem icon={<Upload />} onSelect={() => setDialog('import')}>
                  {strings.import}
                </MenuItem>
              )}
              <MenuItem icon={<Download />} onSelect={download}>
                {strings.export}
              </MenuItem>
              {mayWrite && (
                <MenuItem icon={<Undo2 />} onSelect={() => setDialog('undo')}>
                  {strings.undoIncident}
                </MenuItem>
              )}
            </Menu>
            {mayWrite && (
              <Button kind="primary" icon={<Plus />} onClick={() => setDialog('add')}>
                {strings.add}
              </Button>
            )}
          </>
        }
      >
        {strings.hint}
      </PageHeader>
      {dialog !== 'import' && <ImportNotice onShow={() => setDialog('import')} />}
      <div className="mb-3 flex flex-wrap items-start justify-between gap-3">
        <ReasonFilter reason={reason} />
        <CheckForm />
      </div>
      {error !== null && <Refusal error={error} />}
      <PagedRows
        pages={list}
        empty={
          <EmptyState
            icon={<Ban />}
            title={reason ? strings.emptyFiltered : strings.empty}
            action={
              mayWrite &&
              !reason && (
                <Button icon={<Upload />} onClick={() => setDialog('import')}>
                  {strings.import}
                </Button>
              )
            }
          >
            {strings.emptyHint}
          </EmptyState>
        }
      >
        {rows => <SuppressionTable rows={rows} mayRemove={mayWrite} />}
      </PagedRows>
      <AddDialog isOpen={dialog === 'add'} onClose={() => setDialog(null)} />
      <ImportDialog isOpen={dialog === 'import'} onClose={() => setDialog(null)} />
      <UndoDialog isOpen={dialog === 'undo'} onClose={() => setDialog(null)} />
    </>
  )
}

function ReasonFilter({ reason }: { readonly reason: Reason | undefined }) {
  const navigate = useNavigate({ from: '/$organization/suppressions' })
  return (
    <Segmented
      label={strings.filter}
      value={reason ?? ''}
      onValue={value =>
        void navigate({
          search: ({ brand }) => ({ ...(brand && { brand }), ...(isReason(value) && { reason: value }) }),
        })
      }
      options={[
        { value: '', label: strings.all },
        ...Object.entries(strings.reasonFilters).map(([value, label]) => ({ value, label })),
      ]}
    />
  )
}
