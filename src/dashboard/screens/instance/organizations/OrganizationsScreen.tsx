import { Plus } from 'lucide-react'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { LoadMore } from '../../../components/lists/LoadMore.tsx'
import { usePages } from '../../../hooks/pages.ts'
import { CreateDialog } from './CreateDialog.tsx'
import { OrganizationTable } from './OrganizationTable.tsx'
import { PausedBrands } from './PausedBrands.tsx'
import { organizationStrings as strings } from './strings.ts'

/** `/app/instance/organizations`. */
export function OrganizationsScreen() {
  const [isCreating, setCreating] = useState(false)
  const pages = usePages(['instance', 'organizations'], cursor =>
    answer(
      app.GET('/app/api/instance/organizations', {
        params: { query: { ...(cursor !== undefined && { cursor }) } },
      }),
    ),
  )
  return (
    <>
      <PageHeader
        title={strings.title}
        actions={
          <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
            {strings.create}
          </Button>
        }
      >
        {strings.hint}
      </PageHeader>
      {pages.error && <Refusal error={pages.error} />}
      {pages.rows === null && !pages.error && <SkeletonRows />}
      {pages.rows && (
        <>
          <PausedBrands organizations={pages.rows} />
          <OrganizationTable rows={pages.rows} />
        </>
      )}
      <LoadMore hasMore={pages.hasMore} isLoading={pages.isLoadingMore} onMore={pages.loadMore} />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </>
  )
}
