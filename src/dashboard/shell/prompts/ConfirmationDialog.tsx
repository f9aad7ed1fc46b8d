import { useState } from 'react'
import { requestJson } from '../../api/request.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { signInStrings } from '../../screens/sign-in/strings.ts'
import { strings } from '../strings.ts'

interface PromptDialogProps {
  /** Done, or given up: then what waited for it fails with the server's refusal. */
  readonly onAnswer: (isDone: boolean) => void
}

/** Presents a factor once more (step-up). */
export function ConfirmationDialog({ onAnswer }: PromptDialogProps) {
  const [password, setPassword] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    try {
      await requestJson('POST', '/app/api/confirm', { body: { password } })
      onAnswer(true)
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog isOpen onClose={() => onAnswer(false)} title={strings.confirmTitle} width="small">
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void confirm()
        }}
      >
        <TextInput
          label={signInStrings.password}
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onValue={setPassword}
        />
        {error !== null && <Refusal error={error} />}
        <Button type="submit" kind="primary" isBusy={isBusy}>
          {strings.confirmTitle}
        </Button>
      </form>
    </Dialog>
  )
}
