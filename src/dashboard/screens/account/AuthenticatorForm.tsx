import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, app } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import { Button } from '../../components/actions/Button.tsx'
import { CopyField } from '../../components/actions/CopyField.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { QrCode } from './QrCode.tsx'
import { accountStrings as strings } from './strings.ts'
import { useAccountChange } from './useAccountChange.ts'

interface NewAuthenticator {
  readonly secret: string
  readonly uri: string
}

/** Shows a secret, and takes the code that proves that an authenticator has it. */
export function AuthenticatorForm({ onDone }: { readonly onDone: () => void }) {
  const { data: begun, error } = useQuery({
    queryKey: ['new-authenticator'],
    queryFn: () => answer(app.POST('/app/api/account/authenticator/begin')),
    // One secret while the dialog is open, another the next time.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (error) return <Refusal error={error} />
  if (!begun) return <SkeletonRows />
  return <CodeForm begun={begun} onDone={onDone} />
}

function CodeForm({ begun, onDone }: { readonly begun: NewAuthenticator; readonly onDone: () => void }) {
  const [code, setCode] = useState('')
  const { isBusy, error, run } = useAccountChange()
  const codeError = errorOf(error, 'code')
  const add = async () => {
    const body = { secret: begun.secret, code }
    if (await run(() => answer(app.POST('/app/api/account/authenticator', { body })), strings.authenticatorAdded))
      onDone()
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        void add()
      }}
    >
      <p className="text-muted">{strings.scan}</p>
      <QrCode text={begun.uri} label={strings.qrCode} />
      <CopyField label={strings.secret} value={begun.secret} />
      <TextInput
        label={strings.code}
        hint={strings.codeHint}
        error={codeError}
        isCode
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        maxLength={16}
        value={code}
        onValue={setCode}
      />
      {error !== null && codeError === null && <Refusal error={error} />}
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {strings.add}
      </Button>
    </form>
  )
}
