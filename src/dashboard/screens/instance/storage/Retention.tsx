import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { RetentionDialog } from './RetentionDialog.tsx'
import type { InstanceRetentionPolicy } from './retention-policy.ts'
import { storageStrings as strings } from './strings.ts'

/** How long each kind is kept. */
export function Retention() {
  const [changed, setChanged] = useState<InstanceRetentionPolicy | null>(null)
  const { data, error } = useQuery({
    queryKey: ['instance', 'storage', 'retention'],
    queryFn: () => answer(app.GET('/app/api/instance/storage/retention')),
  })
  const kinds = new Map(data?.kinds.map(({ kind, ...rest }) => [kind, rest]))
  return (
    <Section title={strings.retention} hint={strings.retentionHint}>
      {error && <Refusal error={error} />}
      {!data && !error && <SkeletonRows />}
      {data && (
        <Table
          label={strings.retention}
          rows={data.data}
          rowKey={({ scope, kind }) => `${scope} ${kind}`}
          columns={[
            {
              key: 'kind',
              label: strings.kind,
              isTitle: true,
              isWide: true,
              cell: ({ kind }) => (
                <span title={kinds.get(kind)?.description}>
                  {kind.replaceAll('_', ' ')}
                  <span className="hidden font-normal text-faint md:inline"> · {kinds.get(kind)?.description}</span>
                </span>
              ),
            },
            {
              key: 'scope',
              label: strings.scope,
              cell: ({ scope, name }) => (scope === 'instance' ? strings.instance : <SafeText text={name ?? scope} />),
            },
            {
              key: 'keep',
              label: strings.keep,
              cell: ({ days }) => (days === null ? strings.forever : strings.days(days)),
            },
            {
              key: 'change',
              label: strings.change,
              isActions: true,
              cell: policy => (
                <Button
                  size="small"
                  kind="quiet"
                  aria-label={strings.changeOf(policy.kind)}
                  onClick={() => setChanged({ ...policy, minimumDays: kinds.get(policy.kind)?.minimum_days ?? 1 })}
                >
                  {strings.change}
                </Button>
              ),
            },
          ]}
        />
      )}
      {changed && <RetentionDialog policy={changed} onClose={() => setChanged(null)} />}
    </Section>
  )
}
