import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { CreateWebhookDialog } from './form/CreateWebhookDialog.tsx'
import { webhookStrings as strings } from './strings.ts'
import { WebhooksEmpty } from './WebhooksEmpty.tsx'
import { WebhookTable } from './WebhookTable.tsx'
import { webhooksQuery } from './webhook.ts'

/** `/app/<organization>/webhooks`: the endpoints, and how they fare. */
export function WebhooksScreen() {
  const { api, may } = useOrganization()
  const [isCreating, setCreating] = useState(false)
  const { data, error } = useQuery(webhooksQuery(api))
  const rows = data?.data
  const createButton = may('webhooks:write') && (
    <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
      {strings.create}
    </Button>
  )
  return (
    <>
      <PageHeader title={strings.title} actions={rows && rows.length > 0 && createButton}>
        {strings.hint}
      </PageHeader>
      {error && <Refusal error={error} />}
      {!rows && !error && <SkeletonRows rows={4} />}
      {rows?.length === 0 && <WebhooksEmpty createButton={createButton} />}
      {rows && rows.length > 0 && <WebhookTable webhooks={rows} />}
      <CreateWebhookDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  )
}
