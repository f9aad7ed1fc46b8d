import { useState } from 'react'
import { answer, app } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import type { Session } from '../../api/session.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { signInStrings as strings } from './strings.ts'

interface PasswordFormProps {
  /** Whose account it is; absent: it is typed. */
  readonly email?: string | undefined
  readonly onSignedIn: (session: Session) => void
}

/** Signs in with a password, and with a code where the account wants one. */
export function PasswordForm({ email: knownEmail, onSignedIn }: PasswordFormProps) {
  const [email, setEmail] = useState(knownEmail ?? '')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  /** Why a code is wanted, in the server's words; null: it is not. */
  const [codeWanted, setCodeWanted] = useState<string | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const signIn = async () => {
    setBusy(true)
    setError(null)
    try {
      const body = { email, password, ...(codeWanted !== null && { code }) }
      onSignedIn(await answer(app.POST('/app/api/sign-in', { body })))
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.reason === 'code_required') setCodeWanted(thrown.message)
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
      <TextInput
        label={strings.email}
        type="email"
        autoComplete="username webauthn"
        required
        readOnly={knownEmail !== undefined}
        value={email}
        onValue={setEmail}
      />
      <TextInput
        label={strings.password}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onValue={setPassword}
      />
      {codeWanted !== null && (
        <TextInput
          label={strings.code}
          hint={`${codeWanted} ${strings.codeHint}`}
          isCode
          autoFocus
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
