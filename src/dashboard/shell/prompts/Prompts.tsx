import { answerPrompt, usePrompt } from '../../api/prompts.ts'
import { ConfirmationDialog } from './ConfirmationDialog.tsx'
import { SignInDialog } from './SignInDialog.tsx'

/** The dialogs that a request waits for: signing in again, presenting a factor. */
export function Prompts() {
  const prompt = usePrompt()
  return (
    <>
      {prompt === 'sign-in' && <SignInDialog onAnswer={answerPrompt} />}
      {prompt === 'confirmation' && <ConfirmationDialog onAnswer={answerPrompt} />}
    </>
  )
}
