import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import type { components } from '../../../api/generated/app.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { CodeBlock } from '../../../components/text/CodeBlock.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Tag } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { operatorStrings as strings } from './strings.ts'

type Operator = components['schemas']['InstanceOperator']

/** `/app/instance/operators`. */
export function OperatorsScreen() {
  const queryClient = useQueryClient()
  const [chosen, setChosen] = useState<Operator | null>(null)
  const { data, error } = useQuery({
    queryKey: ['instance', 'operators'],
    queryFn: () => answer(app.GET('/app/api/instance/operators')),
  })
  return (
    <>
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      {error && <Refusal error={error} />}
      {!data && !error && <SkeletonRows rows={3} />}
      {data && (
        <div className="mb-8">
          <Table
            label={strings.title}
            rows={data.data}
            rowKey={({ id }) => id}
            columns={[
              {
                key: 'email',
                label: strings.email,
                isTitle: true,
                isWide: true,
                cell: ({ email, is_you: isYou }) => (
                  <span className="inline-flex max-w-full items-center gap-2">
                    <span className="truncate">
                      <SafeText text={email} />
                    </span>
                    {isYou && <Tag>{strings.you}</Tag>}
                  </span>
                ),
              },
              { key: 'name', label: strings.name, cell: ({ name }) => <SafeText text={name} /> },
              { key: 'since', label: strings.since, cell: ({ since }) => <Time at={since} show="day" /> },
              { key: 'last', label: strings.lastSignIn, cell: row => <Time at={row.last_sign_in_at} /> },
              {
                key: 'remove',
                label: strings.remove,
                isActions: true,
                cell: operator => (
                  <Button
                    size="small"
                    kind="quiet"
                    aria-label={strings.removeOf(operator.email)}
                    onClick={() => setChosen(operator)}
                  >
                    {strings.remove}
                  </Button>
                ),
              },
            ]}
          />
        </div>
      )}
      <Section title={strings.add} hint={strings.addHint}>
        <CodeBlock label={strings.add} code={strings.command} />
      </Section>
      {chosen && (
        <ConfirmDialog
          isOpen
          onClose={() => setChosen(null)}
          title={strings.confirm(chosen.email)}
          action={strings.remove}
          isDanger
          onConfirm={async () => {
            await answer(app.DELETE('/app/api/instance/operators/{id}', { params: { path: { id: chosen.id } } }))
            showToast(strings.removed(chosen.email))
            await queryClient.invalidateQueries(chosen.is_you ? {} : { queryKey: ['instance', 'operators'] })
          }}
        >
          {chosen.is_you && <p className="mb-2 font-medium text-ink">{strings.confirmYou}</p>}
          {strings.confirmHint}
        </ConfirmDialog>
      )}
    </>
  )
}
