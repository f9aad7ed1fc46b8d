import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { hasPasskeys, PasskeyCanceledError, signInWithPasskey } from '../../api/passkeys.ts'
import { type Session, takeSession } from '../../api/session.ts'
import { Notice } from '../../components/feedback/Notice.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { OrLine } from './OrLine.tsx'
import { PasskeyButton } from './PasskeyButton.tsx'
import { PasswordForm } from './PasswordForm.tsx'
import { signInStrings as strings } from './strings.ts'

interface SignInFormProps {
  /** Whose account it is; absent: it is typed. */
  readonly email?: string | undefined
  readonly onSignedIn: (session: Session) => void
}

/** Signs in with a passkey, or with a password and the code that goes with it. */
export function SignInForm({ email, onSignedIn }: SignInFormProps) {
  const queryClient = useQueryClient()
  const [error, setError] = useState<unknown>(null)
  const take = (session: Session) => {
    takeSession(queryClient, session)
    onSignedIn(session)
  }
  const presentPasskey = async () => {
    setError(null)
    try {
      take(await signInWithPasskey())
    } catch (thrown) {
      setError(thrown)
    }
  }
  return (
    <>
      {hasPasskeys() && (
        <>
          <PasskeyButton label={strings.withPasskey} onPress={presentPasskey} />
          {error !== null && (
            <div className="mt-3">
              {error instanceof PasskeyCanceledError ? (
                <Notice tone="info" title={strings.passkeyCanceled} />
              ) : (
                <Refusal error={error} />
              )}
            </div>
          )}
          <OrLine text={strings.or} />
        </>
      )}
      <PasswordForm email={email} onSignedIn={take} />
    </>
  )
}
