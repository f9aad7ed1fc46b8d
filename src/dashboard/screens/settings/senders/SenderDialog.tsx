import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { errorOf } from '../../../api/errors.ts'
import { Choice } from '../../../components/access/Choice.tsx'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { formatDay } from '../../../components/text/Time.tsx'
import { useAction } from '../../../hooks/action.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { senderStrings as strings } from './strings.ts'

type Listing = keyof typeof strings.listings

/** Allows or blocks a sender. */
export function SenderDialog({ onClose }: { readonly onClose: () => void }) {
  const { wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const [sender, setSender] = useState('')
  const [listing, setListing] = useState<Listing>('block')
  const { isBusy, error, run } = useAction()
  const put = async (body: { readonly sender: string; readonly listing: Listing }) => {
    const saved = await answer(wholeApi.app.PUT('/app/api/organization/senders', { body }))
    await queryClient.invalidateQueries({ queryKey: ['senders'] })
    return saved
  }
  const save = () =>
    run(async () => {
      const { replaced, ...saved } = await put({ sender: sender.trim(), listing })
      const text = strings.saved(saved.sender, strings.listings[saved.listing])
      if (replaced) {
        // Somebody else may have listed it so.
        const undo = () => {
          put({ sender: saved.sender, listing: replaced.listing }).catch(() =>
            showToast(strings.notUndone(saved.sender), { kind: 'failed' }),
          )
        }
        showToast(text + strings.replaced(strings.listings[replaced.listing], formatDay(replaced.created_at)), { undo })
      } else showToast(text)
      onClose()
    })
  const senderError = errorOf(error, 'sender')
  return (
    <Dialog isOpen onClose={onClose} title={strings.addTitle} width="small">
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <TextInput
          label={strings.sender}
          hint={strings.senderHint}
          error={senderError}
          value={sender}
          onValue={setSender}
          isCode
          required
          maxLength={320}
          autoComplete="off"
        />
        <Choice<Listing>
          label={strings.listing}
          value={listing}
          onValue={setListing}
          options={(['block', 'allow'] as const).map(value => ({
            value,
            label: strings.listings[value],
            hint: strings.listingHints[value],
          }))}
        />
        {error !== null && !senderError && <Refusal error={error} />}
        <Button type="submit" kind="primary" isBusy={isBusy} className="self-end">
          {strings.save}
        </Button>
      </form>
    </Dialog>
  )
}
