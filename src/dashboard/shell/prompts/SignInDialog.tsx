import { useNavigate } from '@tanstack/react-router'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { SignInForm } from '../../screens/sign-in/SignInForm.tsx'
import { strings } from '../strings.ts'

interface PromptDialogProps {
  /** Done, or given up: then what waited for it fails with the server's refusal. */
  readonly onAnswer: (isDone: boolean) => void
}

/** Signs in again where one is, so that the form behind it keeps what was typed. */
export function SignInDialog({ onAnswer }: PromptDialogProps) {
  const navigate = useNavigate()
  const giveUp = () => {
    onAnswer(false)
    void navigate({ to: '/sign-in' })
  }
  return (
    <Dialog isOpen onClose={giveUp} title={strings.signInTitle} width="small">
      <SignInForm onSignedIn={() => onAnswer(true)} />
    </Dialog>
  )
}
