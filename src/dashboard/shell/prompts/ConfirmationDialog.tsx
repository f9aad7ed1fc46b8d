import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Account, accountQuery } from '../../api/account.ts'
import { answer, app } from '../../api/client.ts'
import { confirmWithPasskey, hasPasskeys, PasskeyCanceledError } from '../../api/passkeys.ts'
import { type Session, takeSession, useSession } from '../../api/session.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Notice } from '../../components/feedback/Notice.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { OrLine } from '../../screens/sign-in/OrLine.tsx'
import { PasskeyButton } from '../../screens/sign-in/PasskeyButton.tsx'
import { signInStrings } from '../../screens/sign-in/strings.ts'
import { strings } from '../strings.ts'
import type { PromptDialogProps } from './prompt-dialog.ts'

/** Presents a factor once more (step-up): a passkey, a code, or the password of whoever has neither. */
export function ConfirmationDialog({ onAnswer }: PromptDialogProps) {
  const { data: account, error } = useQuery(accountQuery)
  return (
    <Dialog isOpen onClose={() => onAnswer(false)} title={strings.confirmTitle} width="small">
      {error && <Refusal error={error} />}
      {account ? <Factors account={account} onDone={() => onAnswer(true)} /> : !error && <SkeletonRows />}
    </Dialog>
  )
}

function Factors({ account, onDone }: { readonly account: Account; readonly onDone: () => void }) {
  const queryClient = useQueryClient()
  const { is_localhost: isLocalhost } = useSession()
  const [error, setError] = useState<unknown>(null)
  const present = async (confirm: () => Promise<Session>) => {
    setError(null)
    try {
      takeSession(queryClient, await confirm())
      onDone()
    } catch (thrown) {
      setError(thrown)
    }
  }
  const hasPasskey = account.passkeys.length > 0
  const isCodeWanted = account.has_authenticator || (hasPasskey && !isLocalhost)
  const hasCode = account.has_authenticator || account.backup_codes_left > 0
  const isTyped = isCodeWanted ? hasCode : account.has_password
  return (
    <>
      <p className="mb-4 text-muted">{strings.confirmHint}</p>
      {hasPasskey && hasPasskeys() && (
        <PasskeyButton label={strings.confirmWithPasskey} onPress={() => present(confirmWithPasskey)} />
      )}
      {hasPasskey && hasPasskeys() && isTyped && <OrLine text={signInStrings.or} />}
      {isTyped && (
        <TypedFactor
          isCode={isCodeWanted}
          onSubmit={body => present(() => answer(app.POST('/app/api/confirm', { body })))}
        />
      )}
      {error !== null && (
        <div className="mt-4">
          {error instanceof PasskeyCanceledError ? (
            <Notice tone="info" title={strings.passkeyCanceled} />
          ) : (
            <Refusal error={error} />
          )}
        </div>
      )}
    </>
  )
}

interface TypedFactorProps {
  /** A code is required, not the password. */
  readonly isCode: boolean
  readonly onSubmit: (body: { readonly code: string } | { readonly password: string }) => Promise<void>
}

function TypedFactor({ isCode, onSubmit }: TypedFactorProps) {
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = async () => {
    setBusy(true)
    await onSubmit(isCode ? { code: typed } : { password: typed })
    setBusy(false)
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        void submit()
      }}
    >
      {isCode ? (
        <TextInput
          label={signInStrings.code}
          hint={signInStrings.codeHint}
          isCode
          autoComplete="one-time-code"
          required
          value={typed}
          onValue={setTyped}
        />
      ) : (
        <TextInput
          label={signInStrings.password}
          type="password"
          autoComplete="current-password"
          required
          value={typed}
          onValue={setTyped}
        />
      )}
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {strings.confirm}
      </Button>
    </form>
  )
}
