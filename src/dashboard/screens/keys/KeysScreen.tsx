import { useNavigate, useSearch } from '@tanstack/react-router'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/actions/Button.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { Notice } from '../../components/feedback/Notice.tsx'
import { Segmented } from '../../components/fields/Segmented.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { PagedRows } from '../../components/lists/PagedRows.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { usePages } from '../../hooks/pages.ts'
import { CreateKeyDialog } from './CreateKeyDialog.tsx'
import { KeyTable } from './KeyTable.tsx'
import { type KeyFilter, loadKeys } from './keys.ts'
import { keyStrings as strings } from './strings.ts'

/** `/app/<organization>/keys`: the API keys that the person may see. */
export function KeysScreen() {
  const { wholeApi } = useOrganization()
  const { show = 'live' } = useSearch({ from: '/$organization/keys' })
  const [isCreating, setCreating] = useState(false)
  const keys = usePages(['keys', wholeApi.organizationId, show], cursor => loadKeys(wholeApi, { state: show }, cursor))
  const { first } = keys
  const rows = keys.rows ?? []
  const createButton = (
    <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
      {strings.create}
    </Button>
  )
  return (
    <>
      <PageHeader title={strings.title} actions={first?.api_access.is_granted && rows.length > 0 && createButton}>
        {strings.hint}
      </PageHeader>
      {first && !first.api_access.is_granted && (
        <div className="mb-5">
          <Notice tone="info" title={strings.noAccess}>
            {strings.ask(first.api_access.ask.join(', '))}
          </Notice>
        </div>
      )}
      <KeyFilterControl show={show} />
      <PagedRows
        pages={keys}
        empty={
          <EmptyState
            icon={<KeyRound />}
            title={show === 'live' ? strings.emptyLive : strings.empty}
            action={first?.api_access.is_granted && createButton}
          >
            {strings.emptyHint} {first?.api_access.is_granted && strings.emptyStep}
          </EmptyState>
        }
      >
        {rows => <KeyTable keys={rows} />}
      </PagedRows>
      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  )
}

type Show = NonNullable<KeyFilter['state']>

function KeyFilterControl({ show }: { readonly show: Show }) {
  const navigate = useNavigate({ from: '/$organization/keys' })
  return (
    <div className="mb-3">
      <Segmented<Show>
        label={strings.filter}
        value={show}
        onValue={value =>
          void navigate({
            search: ({ brand }) => ({ ...(brand && { brand }), ...(value === 'all' && { show: value }) }),
          })
        }
        options={[
          { value: 'live', label: strings.live },
          { value: 'all', label: strings.all },
        ]}
      />
    </div>
  )
}
