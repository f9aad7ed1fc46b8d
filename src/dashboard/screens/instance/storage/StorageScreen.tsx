import { useQuery } from '@tanstack/react-query'
import { answer, app } from '../../../api/client.ts'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { Disks, Kinds, OrganizationBytes } from './Figures.tsx'
import { Retention } from './Retention.tsx'
import { RetentionTasks } from './RetentionTasks.tsx'
import { storageStrings as strings } from './strings.ts'

/** `/app/instance/storage`. */
export function StorageScreen() {
  const { data, error } = useQuery({
    queryKey: ['instance', 'storage', 'figures'],
    queryFn: () => answer(app.GET('/app/api/instance/storage')),
  })
  return (
    <>
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      {error && <Refusal error={error} />}
      {!data && !error && <SkeletonRows />}
      {data && (
        <>
          <Disks disks={data.forecast.disks} />
          <div className="grid gap-x-6 lg:grid-cols-2">
            <Kinds kinds={data.kinds} forecast={data.forecast} />
            <OrganizationBytes organizations={data.organizations} />
          </div>
        </>
      )}
      <Retention />
      <RetentionTasks />
    </>
  )
}
