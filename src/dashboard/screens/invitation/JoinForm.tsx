import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, app } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import { takeSession } from '../../api/session.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { useAction } from '../../hooks/action.ts'
import type { OpenInvitation } from './invitation.ts'
import { invitationStrings as strings } from './strings.ts'

interface JoinFormProps {
  readonly token: string
  readonly invitation: Pick<OpenInvitation, 'email'>
  /** The person has an account here. */
  readonly onKnown: () => void
}

/** Makes the account of a new person, who joins with it. */
export function JoinForm({ token, invitation, onKnown }: JoinFormProps) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [email, setEmail] = useState(invitation.email ?? '')
  const [name, setName] = useState('')
  const { isBusy, error, run } = useAction()
  const isBound = invitation.email !== null
  const join = () =>
    run(async () => {
      const body = { token, name, ...(!isBound && { email }) }
      takeSession(queryClient, await answer(app.POST('/app/api/invitations/join', { body })))
      await navigate({ to: '/account', replace: true })
    })
  const emailError = errorOf(error, 'email')
  const nameError = errorOf(error, 'name')
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        void join()
      }}
    >
      <TextInput
        label={strings.email}
        hint={strings.emailHint}
        error={emailError}
        type="email"
        autoComplete="email"
        required
        readOnly={isBound}
        value={email}
        onValue={setEmail}
      />
      <TextInput
        label={strings.name}
        error={nameError}
        autoComplete="name"
        required
        maxLength={120}
        value={name}
        onValue={setName}
      />
      {error !== null && emailError === null && nameError === null && <Refusal error={error} />}
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {strings.create}
      </Button>
      <Button kind="quiet" onClick={onKnown}>
        {strings.haveAccount}
      </Button>
    </form>
  )
}
