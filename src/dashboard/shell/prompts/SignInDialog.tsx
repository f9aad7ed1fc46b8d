import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type Session, sessionQuery } from '../../api/session.ts'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { SignInForm } from '../../screens/sign-in/SignInForm.tsx'
import { strings } from '../strings.ts'
import type { PromptDialogProps } from './prompt-dialog.ts'

/** Signs in again where one is, so that the form behind it keeps what was typed. */
export function SignInDialog({ onAnswer }: PromptDialogProps) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const before = queryClient.getQueryData(sessionQuery.queryKey)?.user
  const giveUp = () => {
    onAnswer(false)
    void navigate({ to: '/sign-in' })
  }
  const goOn = ({ user }: Session) => {
    // Somebody else: what the first person typed is not sent in their name.
    if (before && user.id !== before.id) location.assign('/app')
    else onAnswer(true)
  }
  return (
    <Dialog isOpen onClose={giveUp} title={strings.signInTitle} width="small">
      <p className="mb-4 text-muted">{strings.signInHint}</p>
      <SignInForm email={before?.email} onSignedIn={goOn} />
    </Dialog>
  )
}
