import type { components } from '../../../api/generated/app.ts'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Badge, Status } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { healthStrings as strings } from './strings.ts'

type InstanceProcess = components['schemas']['InstanceProcess']

interface ProcessesProps {
  readonly processes: readonly InstanceProcess[]
  /** Of the process that answers. */
  readonly version: string
}

/** What runs on this database. */
export function Processes({ processes, version }: ProcessesProps) {
  return (
    <Section title={strings.processes} hint={strings.processesHint}>
      <BreakerNotices processes={processes} />
      <Table
        label={strings.processes}
        rows={processes}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'host',
            label: strings.host,
            isTitle: true,
            isWide: true,
            cell: ({ host, pid }) => <span title={strings.pid(pid)}>{host}</span>,
          },
          { key: 'roles', label: strings.roles, cell: ({ roles }) => roles.join(', ') },
          {
            key: 'version',
            label: strings.version,
            cell: row => (row.version === version ? row.version : <Badge tone="warn">{row.version}</Badge>),
          },
          { key: 'since', label: strings.since, cell: ({ started_at }) => <Time at={started_at} /> },
          { key: 'seen', label: strings.seen, cell: ({ seen_at }) => <Time at={seen_at} /> },
          {
            key: 'state',
            label: strings.state,
            cell: ({ is_alive: isAlive }) => (
              <Status tone={isAlive ? 'good' : 'warn'}>{isAlive ? strings.alive : strings.silent}</Status>
            ),
          },
        ]}
      />
    </Section>
  )
}

/** A notice for each relay whose circuit breaker is open. */
export function BreakerNotices({ processes }: Pick<ProcessesProps, 'processes'>) {
  return processes.map(
    ({ id, breaker, is_alive: isAlive }) =>
      breaker &&
      isAlive && (
        <div key={id} className="mb-3">
          <Notice tone="bad" title={strings.breaker}>
            <SafeText text={breaker.reply} /> (<Time at={breaker.opened_at} />)
          </Notice>
        </div>
      ),
  )
}
