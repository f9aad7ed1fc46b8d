import { useQuery } from '@tanstack/react-query'
import { answer } from '../../api/client.ts'
import { Notice } from '../../components/feedback/Notice.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { Brands } from './brands/Brands.tsx'
import { OrganizationSection } from './OrganizationSection.tsx'
import { PlanSection } from './PlanSection.tsx'
import { Retention } from './retention/Retention.tsx'
import { Senders } from './senders/Senders.tsx'
import { settingStrings as strings } from './strings.ts'

/** `/app/<organization>/settings`. */
export function SettingsScreen() {
  const { wholeApi, organization, may } = useOrganization()
  const { data, error } = useQuery({
    queryKey: ['organization', wholeApi.organizationId],
    queryFn: () => answer(wholeApi.app.GET('/app/api/organization')),
  })
  return (
    <>
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      {error && <Refusal error={error} />}
      {!data && !error && <SkeletonRows rows={4} />}
      {data && (
        <>
          {data.paused_brands.map(({ id, name, reason }) => (
            <div key={id} className="mb-4">
              <Notice tone="bad" title={strings.paused(name)}>
                {reason} {strings.pausedHint}
              </Notice>
            </div>
          ))}
          <div className="grid gap-x-8 lg:grid-cols-2">
            <OrganizationSection data={data} />
            <PlanSection data={data} />
          </div>
        </>
      )}
      {may('brands:read') && <Brands />}
      {organization.role !== 'member' && <Senders />}
      {organization.role !== 'member' && <Retention />}
    </>
  )
}
