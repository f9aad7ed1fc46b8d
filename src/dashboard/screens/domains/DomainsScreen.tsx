import { useQuery } from '@tanstack/react-query'
import { Globe } from 'lucide-react'
import { answer } from '../../api/client.ts'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { Table } from '../../components/lists/Table.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Status } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { domainStrings as strings } from './strings.ts'

/** `/app/<organization>/domains`. */
export function DomainsScreen() {
  const { api } = useOrganization()
  const { data: domains, error } = useQuery({
    queryKey: ['domains', api.organizationId, api.brandId],
    queryFn: () => answer(api.v1.GET('/v1/domains')),
  })
  const rows = domains?.data
  return (
    <>
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      {error && <Refusal error={error} />}
      {!rows && !error && <SkeletonRows />}
      {rows?.length === 0 && (
        <EmptyState icon={<Globe />} title={strings.empty}>
          {strings.emptyHint}
        </EmptyState>
      )}
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
              cell: ({ domain }) => <SafeText text={domain} />,
            },
            { key: 'status', label: strings.status, cell: ({ status }) => <Status tone="off">{status}</Status> },
            { key: 'created', label: strings.created, cell: ({ created_at }) => <Time at={created_at} show="day" /> },
          ]}
        />
      )}
    </>
  )
}
