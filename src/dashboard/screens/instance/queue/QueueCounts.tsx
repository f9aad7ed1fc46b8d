import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { operations } from '../../../api/generated/app.ts'
import { Section } from '../../../components/layout/Section.tsx'
import { Count } from '../../../components/text/Amount.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { queueStrings as strings } from './strings.ts'

export type QueueSummary = operations['getQueue']['responses']['200']['content']['application/json']

/** The queue in figures. */
export function QueueFigures({ queue }: Pick<QueueSummary, 'queue'>) {
  const figures: readonly (readonly [string, ReactNode])[] = [
    [strings.total, <Count key="total" value={queue.total} />],
    [strings.due, <Count key="due" value={queue.due} />],
    [strings.inFlight, <Count key="flight" value={queue.in_flight} />],
    [strings.later, <Count key="later" value={queue.later} />],
    [strings.held, <Count key="held" value={queue.held} />],
    [strings.oldest, <Time key="oldest" at={queue.oldest_due_at} none={strings.none} />],
  ]
  return (
    <dl className="mb-8 grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 xl:grid-cols-6">
      {figures.map(([name, value]) => (
        <div key={name} className="bg-surface px-4 py-3">
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="mt-0.5 text-lg font-semibold">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Where most waits; each leads to its part of the queue. */
export function QueueGroups({ organizations, domains }: Pick<QueueSummary, 'organizations' | 'domains'>) {
  return (
    <div className="grid gap-x-6 lg:grid-cols-2">
      <Group
        title={strings.organizations}
        rows={organizations.map(row => ({
          ...row,
          key: row.organization_id,
          label: row.name,
          search: { organization: row.organization_id },
        }))}
      />
      <Group
        title={strings.domains}
        rows={domains.map(row => ({ ...row, key: row.domain, label: row.domain, search: { domain: row.domain } }))}
      />
    </div>
  )
}

interface GroupRow {
  readonly key: string
  readonly label: string
  readonly total: number
  readonly held: number
  readonly oldest_due_at: string | null
  readonly search: { readonly organization?: string; readonly domain?: string }
}

const shownRows = 6

function Group({ title, rows }: { readonly title: string; readonly rows: readonly GroupRow[] }) {
  const most = Math.max(1, ...rows.map(row => row.total))
  return (
    <Section title={title}>
      <ul className="overflow-hidden rounded-lg border border-line bg-surface">
        {rows.slice(0, shownRows).map(row => (
          <li key={row.key} className="relative border-b border-line last:border-0">
            <span
              className="absolute inset-y-0 left-0 bg-accent-soft"
              style={{ width: `${(row.total / most) * 100}%` }}
              aria-hidden="true"
            />
            <Link
              to="/instance/queue"
              search={row.search}
              className="relative flex h-9 items-center justify-between gap-3 px-3 text-sm hover:underline"
            >
              <span className="min-w-0 truncate">
                <SafeText text={row.label} />
              </span>
              <span className="tabular shrink-0 text-muted">
                <Count value={row.total} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}
