import type { HourlyCount } from '../../api/organization-health.ts'
import { Plot, type Series } from '../../components/layout/Plot.tsx'
import { Card, Section } from '../../components/layout/Section.tsx'
import { todayStrings as strings } from './strings.ts'

const hourName = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' })
const whole = new Intl.NumberFormat('en')

/** Received and accepted by hour; a series that the member may not see is absent. */
export function MailPlot({
  hours,
  isComplete,
}: {
  readonly hours: readonly HourlyCount[]
  readonly isComplete: boolean
}) {
  const values = (kind: 'received' | 'accepted') => hours.map(hour => hour[kind] ?? 0)
  const isSeen = (kind: 'received' | 'accepted') => hours.some(hour => hour[kind] !== null)
  const series: readonly Series[] = [
    ...(isSeen('received') ? [{ name: strings.received, values: values('received'), tone: 'quiet' as const }] : []),
    ...(isSeen('accepted') ? [{ name: strings.accepted, values: values('accepted'), tone: 'accent' as const }] : []),
  ]
  if (series.length === 0) return null
  return (
    <Section title={strings.mail} hint={strings.mailHint}>
      <Card>
        <Plot
          label={strings.plot}
          names={hours.map(({ at }) => hourName.format(new Date(at)))}
          series={series}
          kind="bars"
          format={value => whole.format(value)}
        />
        {!isComplete && <p className="mt-1 text-xs text-faint">{strings.counting}</p>}
        {hours.some(hour => hour.more) && <p className="mt-1 text-xs text-faint">{strings.capped}</p>}
      </Card>
    </Section>
  )
}
