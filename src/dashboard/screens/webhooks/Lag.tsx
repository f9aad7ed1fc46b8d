import { useQuery } from '@tanstack/react-query'
import { Count } from '../../components/text/Amount.tsx'
import { Time } from '../../components/text/Time.tsx'
import { webhookStrings as strings } from './strings.ts'
import { useWebhookApi } from './useWebhookApi.ts'
import { progressQuery } from './webhook.ts'

/** How far an endpoint is behind what has happened: how many events wait for it, and since when. */
export function Lag({ webhookId }: { readonly webhookId: string }) {
  const api = useWebhookApi()
  const { data } = useQuery(progressQuery(api))
  const progress = data?.data.find(({ id }) => id === webhookId)
  if (!progress) return null
  if (progress.waiting === 0) return <span className="text-muted">{strings.upToDate}</span>
  return (
    <span>
      <Count value={progress.waiting} {...(progress.more && { most: progress.waiting })} /> {strings.waiting}
      {progress.waiting_since && (
        <>
          {', '}
          <Time at={progress.waiting_since} />
        </>
      )}
    </span>
  )
}
