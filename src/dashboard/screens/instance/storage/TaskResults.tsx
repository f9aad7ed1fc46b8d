import { Notice } from '../../../components/feedback/Notice.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { formatBytes } from '../../../components/text/Amount.tsx'
import { storageStrings as strings } from './strings.ts'

interface RemovalAmount {
  readonly items: number
  readonly bytes: number
}

/** The result of a task `retention_plan`. */
export interface PlanResult {
  readonly planned: readonly {
    readonly kind: string
    readonly organization_id: string
    readonly brand_id: string | null
    readonly days: number
    readonly now: RemovalAmount
    readonly within_30_days: RemovalAmount
  }[]
}

/** The result of a task `retention_run`. */
export interface RunResult {
  readonly removed: Readonly<Record<string, RemovalAmount>>
}

function describe({ items, bytes }: RemovalAmount): string {
  return items === 0 ? '–' : `${strings.items(items)}, ${formatBytes(bytes)}`
}

/** What would be deleted, by kind and owner. */
export function Planned({ result: { planned } }: { readonly result: PlanResult }) {
  if (planned.length === 0)
    return (
      <Notice tone="good" title={strings.nothing}>
        {strings.nothingHint}
      </Notice>
    )
  return (
    <Table
      label={strings.planned}
      rows={planned}
      rowKey={row => `${row.kind} ${row.organization_id} ${row.brand_id} ${row.days}`}
      columns={[
        { key: 'kind', label: strings.kind, isTitle: true, cell: ({ kind }) => kind.replaceAll('_', ' ') },
        {
          key: 'scope',
          label: strings.scope,
          isWide: true,
          cell: row => <span className="font-mono text-xs text-muted">{row.brand_id ?? row.organization_id}</span>,
        },
        { key: 'keep', label: strings.keep, cell: ({ days }) => strings.days(days) },
        { key: 'now', label: strings.now, align: 'right', cell: ({ now }) => describe(now) },
        { key: 'soon', label: strings.soon, align: 'right', cell: row => describe(row.within_30_days) },
      ]}
    />
  )
}

/** What was deleted. */
export function Removed({ result: { removed } }: { readonly result: RunResult }) {
  const kinds = Object.entries(removed)
  if (kinds.length === 0) return <Notice tone="good" title={strings.nothingDeleted} />
  return (
    <Notice tone="good" title={strings.deleted}>
      {kinds.map(([kind, amount]) => `${kind.replaceAll('_', ' ')}: ${describe(amount)}`).join('; ')}
    </Notice>
  )
}
