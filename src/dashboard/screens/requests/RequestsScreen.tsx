import { useNavigate, useSearch } from '@tanstack/react-router'
import { KeyRound, ScrollText } from 'lucide-react'
import { answer } from '../../api/client.ts'
import type { components } from '../../api/v1.ts'
import { LinkButton } from '../../components/actions/LinkButton.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { PagedRows } from '../../components/lists/PagedRows.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { usePages } from '../../hooks/pages.ts'
import { RequestTable } from './RequestTable.tsx'
import { methods, type RequestFilter, readRequestFilter, statuses } from './request-filter.ts'
import { requestStrings as strings } from './strings.ts'

type ApiRequest = components['schemas']['ApiRequest']

/** `/app/<organization>/requests`: the log of the API's requests. */
export function RequestsScreen() {
  const { api, organization } = useOrganization()
  const { method, status } = useSearch({ from: '/$organization/requests' })
  const filter = { ...(method && { method }), ...(status && { status: String(status) }) }
  const list = usePages<ApiRequest>(['requests', api.organizationId, api.brandId, method, status], async before => {
    const query = { ...filter, ...(before !== undefined && { before }) }
    const { data, next_before } = await answer(api.v1.GET('/v1/requests', { params: { query } }))
    return { data, next_cursor: next_before }
  })
  const isFiltered = method !== undefined || status !== undefined
  return (
    <>
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      <FilterControls method={method} status={status} />
      <PagedRows
        pages={list}
        empty={
          <EmptyState
            icon={<ScrollText />}
            title={isFiltered ? strings.emptyFiltered : strings.empty}
            action={
              !isFiltered && (
                <LinkButton to="/$organization/keys" params={{ organization: organization.id }} icon={<KeyRound />}>
                  {strings.emptyAction}
                </LinkButton>
              )
            }
          >
            {isFiltered ? strings.emptyFilteredHint : strings.emptyHint}
          </EmptyState>
        }
      >
        {rows => <RequestTable rows={rows} />}
      </PagedRows>
    </>
  )
}

function FilterControls({ method, status }: RequestFilter) {
  const navigate = useNavigate({ from: '/$organization/requests' })
  const change = (changed: Readonly<Record<string, string>>) =>
    void navigate({
      search: ({ brand, ...filter }) => ({ ...(brand && { brand }), ...readRequestFilter({ ...filter, ...changed }) }),
    })
  return (
    <div className="mb-3 flex flex-wrap gap-2">
      <select
        aria-label={strings.method}
        className="input w-auto pr-8"
        value={method ?? ''}
        onChange={event => change({ method: event.currentTarget.value })}
      >
        <option value="">{strings.anyMethod}</option>
        {methods.map(name => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select
        aria-label={strings.status}
        className="input w-auto pr-8"
        value={status ?? ''}
        onChange={event => change({ status: event.currentTarget.value })}
      >
        <option value="">{strings.anyStatus}</option>
        {statuses.map(code => (
          <option key={code}>{code}</option>
        ))}
      </select>
    </div>
  )
}
