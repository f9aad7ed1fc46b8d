import { useState } from 'react'
import { createPasskey, PasskeyCanceledError } from '../../api/passkeys.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Notice } from '../../components/feedback/Notice.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { deviceName } from './device-name.ts'
import { accountStrings as strings } from './strings.ts'
import { useAccountChange } from './useAccountChange.ts'

interface AddPasskeyDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Names a passkey, and lets the browser make it. */
export function AddPasskeyDialog({ isOpen, onClose }: AddPasskeyDialogProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={strings.addPasskey} width="small">
      <AddPasskey onClose={onClose} />
    </Dialog>
  )
}

function AddPasskey({ onClose }: Pick<AddPasskeyDialogProps, 'onClose'>) {
  const [name, setName] = useState(() => deviceName(navigator.userAgent))
  const { isBusy, error, run } = useAccountChange()
  const add = async () => {
    if (await run(() => createPasskey(name.trim()), strings.passkeyAdded)) onClose()
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        void add()
      }}
    >
      <TextInput
        label={strings.passkeyName}
        hint={strings.passkeyNameHint}
        required
        maxLength={120}
        value={name}
        onValue={setName}
      />
      {error instanceof PasskeyCanceledError && <Notice tone="info" title={strings.passkeyCanceled} />}
      {error !== null && !(error instanceof PasskeyCanceledError) && <Refusal error={error} />}
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {strings.addPasskey}
      </Button>
    </form>
  )
}
