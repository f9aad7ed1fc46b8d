import { useState } from 'react'
import type { Account } from '../../api/account.ts'
import { answer, app } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { Section } from '../../components/layout/Section.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { RowsCard } from './RowsCard.tsx'
import { accountStrings as strings } from './strings.ts'
import { useAccountChange } from './useAccountChange.ts'

/** The password. */
export function PasswordSection({ account }: { readonly account: Account }) {
  const [isOpen, setOpen] = useState(false)
  const action = account.has_password ? strings.changePassword : strings.setPassword
  return (
    <Section title={strings.password} hint={strings.passwordHint}>
      <RowsCard actions={<Button onClick={() => setOpen(true)}>{action}</Button>}>
        {account.has_password ? strings.hasPassword : strings.noPassword}
      </RowsCard>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={action} width="small">
        <NewPasswordForm email={account.email} action={action} onDone={() => setOpen(false)} />
      </Dialog>
    </Section>
  )
}

interface NewPasswordFormProps {
  readonly email: string
  readonly action: string
  readonly onDone: () => void
}

function NewPasswordForm({ email, action, onDone }: NewPasswordFormProps) {
  const [password, setPassword] = useState('')
  const { isBusy, error, run } = useAccountChange()
  const passwordError = errorOf(error, 'password')
  const save = async () => {
    const set = () => answer(app.POST('/app/api/account/password', { body: { password } }))
    if (await run(set, strings.passwordSaved)) onDone()
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      {/* For password managers, which keep the two together. */}
      <input type="text" hidden readOnly autoComplete="username" value={email} />
      <TextInput
        label={strings.newPassword}
        hint={strings.newPasswordHint}
        error={passwordError}
        type="password"
        autoComplete="new-password"
        required
        minLength={12}
        value={password}
        onValue={setPassword}
      />
      {error !== null && passwordError === null && <Refusal error={error} />}
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {action}
      </Button>
    </form>
  )
}
