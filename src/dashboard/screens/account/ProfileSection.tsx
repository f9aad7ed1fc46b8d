import { useState } from 'react'
import type { Account } from '../../api/account.ts'
import { answer, app } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { Card, Section } from '../../components/layout/Section.tsx'
import { accountStrings as strings } from './strings.ts'
import { useAccountChange } from './useAccountChange.ts'

/** Name and email. */
export function ProfileSection({ account }: { readonly account: Account }) {
  const [name, setName] = useState(account.name)
  const { isBusy, error, run } = useAccountChange()
  const nameError = errorOf(error, 'name')
  return (
    <Section title={strings.profile}>
      <Card>
        <form
          className="flex flex-col gap-4"
          onSubmit={event => {
            event.preventDefault()
            void run(() => answer(app.PATCH('/app/api/account', { body: { name } })), strings.saved)
          }}
        >
          <TextInput label={strings.email} value={account.email} readOnly onValue={() => undefined} />
          <TextInput
            label={strings.name}
            error={nameError}
            autoComplete="name"
            required
            maxLength={120}
            value={name}
            onValue={setName}
          />
          {error !== null && nameError === null && <Refusal error={error} />}
          <div>
            <Button type="submit" isBusy={isBusy} disabled={name.trim() === '' || name === account.name}>
              {strings.save}
            </Button>
          </div>
        </form>
      </Card>
    </Section>
  )
}
