import { CopyButton } from '../../components/actions/CopyButton.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Badge, Tag, type Tone } from '../../components/text/Status.tsx'
import { purposes, recordStates, domainDetailStrings as strings } from './strings.ts'
import type { DnsRecord } from './types.ts'

const tones: Readonly<Record<DnsRecord['status'], Tone>> = {
  verified: 'good',
  pending: 'waits',
  mismatch: 'bad',
  unknown: 'warn',
}

/** A record that the domain needs: what is wanted beside what was seen. */
function RecordCard({ record }: { readonly record: DnsRecord }) {
  const { purpose, type, name, value, priority, status, required } = record
  return (
    <li className="min-w-0 rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 border-b border-line px-3 py-2">
        <span className="font-medium">{purposes[purpose]}</span>
        <Tag>{type}</Tag>
        {!required && <span className="text-sm text-faint">{strings.recommended}</span>}
        <span className="ml-auto">
          <Badge tone={tones[status]}>{recordStates[status]}</Badge>
        </span>
      </div>
      <div className="grid gap-x-6 gap-y-3 p-3 lg:grid-cols-2">
        <div className="min-w-0">
          <h3 className="mb-1 text-xs font-medium text-faint">{strings.wanted}</h3>
          <CodeLine text={name} copyLabel={strings.copyName} />
          <CodeLine text={priority === null ? value : `${priority} ${value}`} copyLabel={strings.copyValue} />
        </div>
        <div className="min-w-0">
          <h3 className="mb-1 text-xs font-medium text-faint">{strings.seen}</h3>
          <Seen record={record} />
        </div>
      </div>
    </li>
  )
}

function Seen({ record: { status, found, detail } }: { readonly record: DnsRecord }) {
  return (
    <div className="text-sm">
      {found.length === 0 && (
        <p className="text-muted">{status === 'unknown' ? strings.noAnswer : strings.nothingSeen}</p>
      )}
      <ul className="flex flex-col gap-1">
        {found.map(text => (
          <li key={text} className="font-mono text-xs leading-5 break-all">
            <SafeText text={text} />
          </li>
        ))}
      </ul>
      {detail && <p className="mt-1 text-bad">{detail}</p>}
    </div>
  )
}

function CodeLine({ text, copyLabel }: { readonly text: string; readonly copyLabel: string }) {
  return (
    <div className="flex items-start gap-1">
      <code className="min-w-0 flex-1 py-1 font-mono text-xs leading-5 break-all">{text}</code>
      <CopyButton text={text} label={copyLabel} />
    </div>
  )
}

/** Records below each other; those of a step that is done are behind a line that opens them. */
export function RecordList({
  records,
  isDone = false,
}: {
  readonly records: readonly DnsRecord[]
  readonly isDone?: boolean
}) {
  if (records.length === 0) return null
  const list = (
    <ul className="flex flex-col gap-2">
      {records.map(record => (
        <RecordCard key={`${record.purpose} ${record.type} ${record.name} ${record.value}`} record={record} />
      ))}
    </ul>
  )
  if (!isDone) return list
  return (
    <details className="group">
      <summary className="w-fit rounded-sm text-sm font-medium text-accent-ink">
        {strings.showRecords(records.length)}
      </summary>
      <div className="mt-2">{list}</div>
    </details>
  )
}
