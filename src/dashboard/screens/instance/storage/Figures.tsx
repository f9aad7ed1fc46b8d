import type { operations } from '../../../api/generated/app.ts'
import { Section } from '../../../components/layout/Section.tsx'
import { formatBytes } from '../../../components/text/Amount.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Badge } from '../../../components/text/Status.tsx'
import { storageStrings as strings } from './strings.ts'

type Storage = operations['getStorage']['responses']['200']['content']['application/json']

const soonDays = 30
const verySoonDays = 7
/** Less than this share of a disk is little. */
const fewFree = 0.1

/** The disks, and when each is full. */
export function Disks({ disks }: Pick<Storage['forecast'], 'disks'>) {
  return (
    <Section title={strings.disks}>
      <ul className="grid gap-3 sm:grid-cols-2">
        {disks.map(({ path, holds, free_bytes: free, total_bytes: total, days_until_full: days }) => (
          <li key={`${holds} ${path}`} className="rounded-lg border border-line bg-surface p-4">
            <div className="flex flex-wrap items-center justify-between gap-2">
              <span className="min-w-0 truncate font-mono text-sm">{path}</span>
              {days !== null && (
                <Badge tone={days < verySoonDays ? 'bad' : days < soonDays ? 'warn' : 'good'}>
                  {strings.fullIn(days)}
                </Badge>
              )}
            </div>
            <div
              className="mt-3 h-1.5 overflow-hidden rounded-full bg-sunken ring-1 ring-line ring-inset"
              aria-hidden="true"
            >
              <div
                className={`h-full rounded-full ${free < total * fewFree ? 'bg-bad' : 'bg-accent'}`}
                style={{ width: `${((total - free) / Math.max(total, 1)) * 100}%` }}
              />
            </div>
            <p className="mt-2 text-sm text-muted">
              {strings.holds[holds]} · {strings.free(formatBytes(free), formatBytes(total))}
              {days === null && ` · ${strings.notGrowing}`}
            </p>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** What fills the database, by kind. */
export function Kinds({ kinds, forecast }: Pick<Storage, 'kinds' | 'forecast'>) {
  const { stored_bytes: stored, reusable_bytes: reusable, bytes_a_day: growth } = forecast
  const perDay = growth.over_7_days ?? growth.over_30_days
  return (
    <Section
      title={strings.kinds}
      hint={
        <>
          {strings.kindsHint(formatBytes(stored), formatBytes(reusable))}{' '}
          {perDay !== null && perDay > 0 && strings.growth(formatBytes(perDay))}
        </>
      }
    >
      <Bars rows={kinds.map(({ kind, bytes }) => ({ key: kind, label: strings.kindNames[kind] ?? kind, bytes }))} />
    </Section>
  )
}

/** The organizations with the most content. */
export function OrganizationBytes({ organizations }: Pick<Storage, 'organizations'>) {
  return (
    <Section title={strings.organizations} hint={strings.organizationsHint}>
      {organizations === null || organizations.length === 0 ? (
        <p className="text-sm text-muted">{organizations === null ? strings.notCounted : strings.nothingStored}</p>
      ) : (
        <Bars
          rows={organizations.map(({ organization_id, name, bytes }) => ({ key: organization_id, label: name, bytes }))}
        />
      )}
    </Section>
  )
}

const shownBars = 10

interface BarsProps {
  readonly rows: readonly { readonly key: string; readonly label: string; readonly bytes: number }[]
}

function Bars({ rows }: BarsProps) {
  const most = Math.max(1, ...rows.map(row => row.bytes))
  return (
    <ul className="overflow-hidden rounded-lg border border-line bg-surface">
      {rows.slice(0, shownBars).map(row => (
        <li key={row.key} className="relative flex h-9 items-center border-b border-line px-3 text-sm last:border-0">
          <span
            className="absolute inset-y-0 left-0 bg-accent-soft"
            style={{ width: `${(row.bytes / most) * 100}%` }}
            aria-hidden="true"
          />
          <span className="relative min-w-0 flex-1 truncate">
            <SafeText text={row.label} />
          </span>
          <span className="tabular relative shrink-0 text-muted">{formatBytes(row.bytes)}</span>
        </li>
      ))}
    </ul>
  )
}
