import { useQuery } from '@tanstack/react-query'
import { todayQuery } from '../../api/organization-health.ts'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { Attention } from './Attention.tsx'
import { areStepsDone, FirstSteps } from './FirstSteps.tsx'
import { MailPlot } from './MailPlot.tsx'
import { RecentEvents } from './RecentEvents.tsx'
import { StatusTotals } from './StatusTotals.tsx'
import { todayStrings as strings } from './strings.ts'

/** `/app/<organization>`. */
export function TodayScreen() {
  const { api } = useOrganization()
  const { data: today, error } = useQuery(todayQuery(api))
  return (
    <>
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      {error && !today && <Refusal error={error} />}
      {!today && !error && <SkeletonRows />}
      {today && (
        <>
          {today.attention.length > 0 && <Attention lamps={today.attention} />}
          {!areStepsDone(today.first_steps) && <FirstSteps steps={today.first_steps} />}
          {today.attention.length === 0 && <Attention lamps={today.attention} />}
          <MailPlot hours={today.hours} isComplete={today.complete} />
          {today.statuses && <StatusTotals statuses={today.statuses} />}
          <RecentEvents events={today.events} />
        </>
      )}
    </>
  )
}
