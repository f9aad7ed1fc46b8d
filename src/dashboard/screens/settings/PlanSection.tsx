import type { components } from '../../api/generated/app.ts'
import { Card, Section } from '../../components/layout/Section.tsx'
import { Tag } from '../../components/text/Status.tsx'
import { settingStrings as strings } from './strings.ts'

interface PlanSectionProps {
  readonly data: components['schemas']['Organization']
}

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** From this part of the quota on, the reader should know. */
const nearlyUsed = 0.8

/** The plan, and how much of it this month has used. */
export function PlanSection({ data: { plan, usage } }: PlanSectionProps) {
  const { used, included, overage } = usage
  return (
    <Section title={strings.plan}>
      <Card>
        <div className="mb-3 flex items-center justify-between gap-3">
          <Tag>{strings.plans[plan]}</Tag>
          <span className="text-sm text-faint">{monthName.format(new Date(`${usage.month}-01`))}</span>
        </div>
        <div className="text-sm text-muted">{strings.usage}</div>
        <div className="tabular text-lg font-semibold">{strings.used(used, included)}</div>
        {included !== null && (
          <meter
            aria-label={strings.usage}
            className="mt-2 h-2 w-full"
            min={0}
            max={included}
            high={included * nearlyUsed}
            optimum={0}
            value={Math.min(used, included)}
          />
        )}
        {overage > 0 && <p className="mt-1 text-sm text-warn">{strings.overage(overage)}</p>}
        <p className="mt-3 text-sm text-muted">{strings.planHint}</p>
      </Card>
    </Section>
  )
}
