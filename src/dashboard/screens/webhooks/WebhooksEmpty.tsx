import { Webhook as WebhookIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { ReceiverExample } from './ReceiverExample.tsx'
import { webhookStrings as strings } from './strings.ts'

/** There is no endpoint yet: what one is for, and a receiver to copy. */
export function WebhooksEmpty({ createButton }: { readonly createButton: ReactNode }) {
  if (!createButton)
    return (
      <EmptyState icon={<WebhookIcon />} title={strings.empty}>
        {strings.emptyNoWrite}
      </EmptyState>
    )
  return (
    <EmptyState
      icon={<WebhookIcon />}
      title={strings.empty}
      action={
        <div className="flex w-full min-w-0 flex-col items-center gap-5">
          {createButton}
          <ReceiverExample />
        </div>
      }
    >
      {strings.emptyHint}
    </EmptyState>
  )
}
