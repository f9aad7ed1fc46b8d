import type { components } from '../../../api/generated/app.ts'
import { Section } from '../../../components/layout/Section.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { healthStrings as strings } from './strings.ts'

/** What /ready answers, part by part. */
export function Parts({ parts }: Pick<components['schemas']['InstanceHealth'], 'parts'>) {
  return (
    <Section title={strings.ready}>
      <Table
        label={strings.ready}
        rows={parts}
        rowKey={({ part }) => part}
        columns={[
          { key: 'part', label: strings.part, isTitle: true, cell: ({ part }) => part.replaceAll('_', ' ') },
          {
            key: 'state',
            label: strings.state,
            cell: ({ ready }) => (
              <Status tone={ready ? 'good' : 'bad'}>{ready ? strings.isReady : strings.isNotReady}</Status>
            ),
          },
          {
            key: 'detail',
            label: strings.detail,
            isWide: true,
            cell: ({ detail }) => (
              <span className="text-muted" title={detail ?? undefined}>
                <SafeText text={detail} none={strings.none} />
              </span>
            ),
          },
        ]}
      />
    </Section>
  )
}
