import { useState } from 'react'
import type { Account } from '../../api/account.ts'
import { answer, app } from '../../api/client.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Section } from '../../components/layout/Section.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { AuthenticatorForm } from './AuthenticatorForm.tsx'
import { RowsCard } from './RowsCard.tsx'
import { accountStrings as strings } from './strings.ts'
import { useRemoval } from './useRemoval.ts'

/** The authenticator, whose code goes beside the password. */
export function AuthenticatorSection({ account }: { readonly account: Account }) {
  const [isOpen, setOpen] = useState(false)
  const { asked, ask, close, remove } = useRemoval((_: true) => answer(app.DELETE('/app/api/account/authenticator')))
  const { has_authenticator: isSetUp } = account
  return (
    <Section title={strings.authenticator} hint={strings.authenticatorHint}>
      <RowsCard
        actions={
          <>
            <Button onClick={() => setOpen(true)}>
              {isSetUp ? strings.replaceAuthenticator : strings.setUpAuthenticator}
            </Button>
            {isSetUp && (
              <Button kind="quiet" onClick={() => ask(true)}>
                {strings.remove}
              </Button>
            )}
          </>
        }
      >
        {isSetUp ? strings.hasAuthenticator : strings.noAuthenticator}
      </RowsCard>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={strings.setUpAuthenticator} width="small">
        <AuthenticatorForm onDone={() => setOpen(false)} />
      </Dialog>
      <ConfirmDialog
        isOpen={asked !== null}
        onClose={close}
        title={strings.removeAuthenticator}
        action={strings.remove}
        isDanger
        onConfirm={remove}
      >
        {strings.removeAuthenticatorHint}
      </ConfirmDialog>
    </Section>
  )
}
