import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Globe, Plus } from 'lucide-react'
import { answer } from '../../api/client.ts'
import { queryKey } from '../../api/keys.ts'
import { LinkButton } from '../../components/actions/LinkButton.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { Table } from '../../components/lists/Table.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { ReceivingStatus, SendingStatus } from './DomainStatus.tsx'
import { domainStrings as strings } from './strings.ts'

/** `/app/<organization>/domains` */
export function DomainsScreen() {
  const { api, may, organization } = useOrganization()
  const { data: domains, error } = useQuery({
    queryKey: queryKey('domains', api),
    queryFn: () => answer(api.v1.GET('/v1/domains')),
  })
  const rows = domains?.data
  const params = { organization: organization.id }
  const add = may('domains:write') && (
    <LinkButton to="/$organization/domains/new" params={params} search={true} kind="primary" icon={<Plus />}>
      {strings.add}
    </LinkButton>
  )
  return (
    <>
      <PageHeader title={strings.title} actions={rows && rows.length > 0 && add}>
        {strings.hint}
      </PageHeader>
      {error && <Refusal error={error} />}
      {!rows && !error && <SkeletonRows />}
      {rows?.length === 0 && <NoDomains action={add} />}
      {rows && rows.length > 0 && (
        <Table
          label={strings.title}
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            {
              key: 'name',
              label: strings.name,
              isTitle: true,
              isWide: true,
              cell: ({ id, domain }) => (
                <Link
                  to="/$organization/domains/$domain"
                  params={{ ...params, domain: id }}
                  search={({ brand }) => (brand === undefined ? {} : { brand })}
                  className="rounded-sm hover:underline"
                >
                  <SafeText text={domain} />
                </Link>
              ),
            },
            { key: 'sending', label: strings.sending, cell: domain => <SendingStatus domain={domain} /> },
            { key: 'receiving', label: strings.receiving, cell: domain => <ReceivingStatus domain={domain} /> },
            { key: 'checked', label: strings.checked, cell: domain => <Time at={domain.last_checked_at} /> },
          ]}
        />
      )}
    </>
  )
}

function NoDomains({ action }: { readonly action: React.ReactNode }) {
  return (
    <EmptyState icon={<Globe />} title={strings.empty} action={action}>
      <p>{strings.emptyHint}</p>
      <ol className="mt-6 grid gap-4 text-left text-sm sm:grid-cols-3">
        {strings.emptySteps.map(([title, text], index) => (
          <li key={title}>
            <div className="tabular text-xs font-medium text-faint">{index + 1}</div>
            <div className="font-medium text-ink">{title}</div>
            {text}
          </li>
        ))}
      </ol>
    </EmptyState>
  )
}
