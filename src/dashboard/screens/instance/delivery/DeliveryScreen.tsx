import { useQuery } from '@tanstack/react-query'
import { Webhook } from 'lucide-react'
import { answer, app } from '../../../api/client.ts'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { Plot } from '../../../components/layout/Plot.tsx'
import { Card, Section } from '../../../components/layout/Section.tsx'
import { KeyValues } from '../../../components/lists/KeyValues.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { Count } from '../../../components/text/Amount.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { deliveryStrings as strings } from './strings.ts'

/** `/app/instance/delivery`. */
export function DeliveryScreen() {
  const { data, error } = useQuery({
    queryKey: ['instance', 'delivery'],
    queryFn: () => answer(app.GET('/app/api/instance/delivery')),
  })
  return (
    <>
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      {error && <Refusal error={error} />}
      {!data && !error && <SkeletonRows />}
      {data && (
        <>
          <Section title={strings.days} hint={strings.daysHint}>
            <Card>
              <Plot
                label={strings.days}
                names={data.days.map(({ day }) => day)}
                series={[
                  { name: strings.delivered, tone: 'accent', values: data.days.map(row => row.delivered) },
                  { name: strings.unconfirmed, tone: 'quiet', values: data.days.map(row => row.unconfirmed) },
                  {
                    name: `${strings.bounced}, ${strings.complained.toLowerCase()}, ${strings.failed.toLowerCase()}`,
                    tone: 'bad',
                    values: data.days.map(row => row.bounced + row.complained + row.failed),
                  },
                ]}
                format={value => value.toLocaleString('en')}
              />
            </Card>
          </Section>
          <Section title={strings.provider}>
            <Card>
              <KeyValues
                items={[
                  [strings.name, data.provider.name],
                  [strings.reports, strings.reportKinds[data.provider.reports]],
                  [strings.returnPath, strings.returnPaths[data.provider.return_path]],
                  [strings.messageId, strings.messageIds[data.provider.message_id]],
                  [strings.concurrency, strings.submissions(data.provider.max_concurrent_submissions)],
                ]}
              />
            </Card>
          </Section>
          <Section
            title={strings.webhooks}
            hint={
              <>
                {strings.webhooksHint} <Time at={data.process_started_at} show="full" />
              </>
            }
          >
            {data.webhooks.length === 0 ? (
              <EmptyState icon={<Webhook />} title={strings.noWebhooks}>
                {strings.noWebhooksHint}
              </EmptyState>
            ) : (
              <Table
                label={strings.webhooks}
                rows={data.webhooks}
                rowKey={({ provider }) => provider}
                columns={[
                  { key: 'name', label: strings.provider, isTitle: true, isWide: true, cell: row => row.provider },
                  {
                    key: 'state',
                    label: strings.state,
                    cell: row => (
                      <Status tone={row.is_configured ? 'good' : 'off'}>
                        {row.is_configured ? strings.configured : strings.notConfigured}
                      </Status>
                    ),
                  },
                  ...(['recorded', 'repeated', 'unknown', 'refused'] as const).map(name => ({
                    key: name,
                    label: strings[name],
                    align: 'right' as const,
                    cell: (row: (typeof data.webhooks)[number]) => <Count value={row[name]} />,
                  })),
                ]}
              />
            )}
          </Section>
        </>
      )}
    </>
  )
}
