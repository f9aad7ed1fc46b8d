import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Skeleton, SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { settingStrings as strings } from '../strings.ts'
import { RetentionDialog } from './RetentionDialog.tsx'
import { amountOf, type RetentionRow } from './retention.ts'

/** How long everything is kept, with what would go now: for owners and admins. */
export function Retention() {
  const { wholeApi } = useOrganization()
  const [changing, setChanging] = useState<RetentionRow | null>(null)
  const { data, error } = useQuery({
    queryKey: ['retention', wholeApi.organizationId],
    queryFn: () => answer(wholeApi.app.GET('/app/api/organization/retention')),
  })
  const { data: plan } = useQuery({
    queryKey: ['retention', wholeApi.organizationId, 'plan'],
    queryFn: () => answer(wholeApi.app.GET('/app/api/organization/retention/plan')),
  })
  return (
    <Section title={strings.retention} hint={strings.retentionHint}>
      {error && <Refusal error={error} />}
      {!data && !error && <SkeletonRows />}
      {data && (
        <Table
          label={strings.retention}
          rows={data.data}
          rowKey={({ kind }) => kind}
          columns={[
            {
              key: 'kind',
              label: strings.kind,
              isTitle: true,
              isWide: true,
              cell: ({ kind }) => <span title={strings.kindHints[kind]}>{strings.kinds[kind]}</span>,
            },
            {
              key: 'kept',
              label: strings.kept,
              cell: ({ days, brands }) => (
                <>
                  {strings.days(days)}
                  {brands.length > 0 && <span className="text-faint"> · {strings.brandsDiffer(brands.length)}</span>}
                </>
              ),
            },
            {
              key: 'set',
              label: strings.setFor,
              cell: ({ set_for }) => (set_for === 'organization' ? strings.here : strings.instance),
            },
            {
              key: 'now',
              label: strings.goesNow,
              cell: ({ kind }) =>
                plan ? (
                  (amountOf(plan, kind) ?? <span className="text-faint">{strings.nothing}</span>)
                ) : (
                  <Skeleton className="h-3 w-16" />
                ),
            },
            {
              key: 'change',
              label: strings.actions,
              isActions: true,
              cell: row => (
                <Button
                  size="small"
                  kind="quiet"
                  aria-label={strings.changeOf(strings.kinds[row.kind])}
                  onClick={() => setChanging(row)}
                >
                  {strings.change}
                </Button>
              ),
            },
          ]}
        />
      )}
      {changing && <RetentionDialog row={changing} onClose={() => setChanging(null)} />}
    </Section>
  )
}
