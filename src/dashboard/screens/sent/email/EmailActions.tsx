import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { Ban, PenLine } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import type { components } from '../../../api/v1.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { contentQuery, emailQuery } from './email-queries.ts'
import { emailStrings as strings } from './strings.ts'

/** What one may do with an email: cancel it while it is scheduled, write it again as a draft. */
export function EmailActions({ email }: { readonly email: components['schemas']['EmailDetail'] }) {
  const { api, organization, may } = useOrganization()
  const queryClient = useQueryClient()
  const router = useRouter()
  const [isCanceling, setCanceling] = useState(false)
  const [isWriting, setWriting] = useState(false)
  const cancel = async () => {
    const params = { path: { id: email.id } }
    const changed = await answer(api.v1.POST('/v1/emails/{id}/cancel', { params }))
    queryClient.setQueryData(emailQuery(api, email.id).queryKey, changed)
    showToast(strings.canceled)
  }
  const writeAgain = async () => {
    setWriting(true)
    try {
      const { text, available } = await queryClient.ensureQueryData(contentQuery(api, email.id))
      const { id } = await answer(
        api.v1.POST('/v1/drafts', {
          body: {
            from: email.from,
            to: email.to,
            cc: email.cc,
            bcc: email.bcc,
            reply_to: email.reply_to,
            subject: email.subject,
            ...(available && text !== null && { text }),
          },
        }),
      )
      router.history.push(`/app/${organization.id}/drafts/${id}`)
    } catch (error) {
      showToast(error instanceof Error ? error.message : String(error), { kind: 'failed' })
    } finally {
      setWriting(false)
    }
  }
  return (
    <>
      {email.status === 'scheduled' && may('email:send') && (
        <Button icon={<Ban />} onClick={() => setCanceling(true)}>
          {strings.cancel}
        </Button>
      )}
      {may('drafts:write') && (
        <Button icon={<PenLine />} isBusy={isWriting} onClick={() => void writeAgain()}>
          {strings.writeAgain}
        </Button>
      )}
      <ConfirmDialog
        isOpen={isCanceling}
        onClose={() => setCanceling(false)}
        title={strings.cancelTitle}
        action={strings.cancel}
        isDanger
        onConfirm={cancel}
      >
        {strings.cancelHint}
      </ConfirmDialog>
    </>
  )
}
