import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { requestJson } from '../../api/request.ts'
import { type Session, takeSession } from '../../api/session.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { signInStrings as strings } from './strings.ts'

/** Signs in with a password, and with a code where the account has an authenticator. */
export function SignInForm({ onSignedIn }: { readonly onSignedIn: (session: Session) => void }) {
  const queryClient = useQueryClient()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [wantsCode, setWantsCode] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const signIn = async () => {
    setBusy(true)
    setError(null)
    try {
      const body = { email, password, ...(wantsCode && { code }) }
      const session = await requestJson<Session>('POST', '/app/api/sign-in', { body })
      takeSession(queryClient, session)
      onSignedIn(session)
    } catch (thrown) {
      const isCodeWanted = thrown instanceof ApiError && thrown.reason === 'code_required' && !wantsCode
      if (isCodeWanted) setWantsCode(true)
      else setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        void signIn()
      }}
    >
      <TextInput label={strings.email} type="email" autoComplete="username" required value={email} onValue={setEmail} />
      <TextInput
        label={strings.password}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onValue={setPassword}
      />
      {wantsCode && (
        <TextInput
          label={strings.code}
          hint={strings.codeHint}
          isCode
          autoComplete="one-time-code"
          required
          value={code}
          onValue={setCode}
        />
      )}
      {error !== null && <Refusal error={error} />}
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {strings.signIn}
      </Button>
    </form>
  )
}
