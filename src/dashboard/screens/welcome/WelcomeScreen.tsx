import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, app } from '../../api/client.ts'
import type { components } from '../../api/generated/app.ts'
import { takeSession } from '../../api/session.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { useAction } from '../../hooks/action.ts'
import { useLinkToken } from '../../hooks/link-token.ts'
import { CenteredPage } from '../../shell/pages/CenteredPage.tsx'
import { RefusedLinkPage } from '../../shell/pages/RefusedLinkPage.tsx'
import { SignInForm } from '../sign-in/SignInForm.tsx'
import { welcomeStrings as strings } from './strings.ts'

type Welcome = components['schemas']['Welcome']

/** `/app/welcome#<token>`: the first sign-in, and the way back for whoever has lost every factor. */
export function WelcomeScreen() {
  const token = useLinkToken()
  const { data: welcome, error } = useQuery({
    queryKey: ['welcome', token],
    queryFn: () => answer(app.POST('/app/api/welcome/look', { body: { token } })),
    enabled: token !== '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  const refused = token === '' ? new Error(strings.noToken) : error
  if (refused) return <RefusedLinkPage title={strings.closedTitle} error={refused} toSignIn={strings.toSignIn} />
  if (!welcome)
    return (
      <CenteredPage title={strings.title} hint={strings.looking}>
        <SkeletonRows />
      </CenteredPage>
    )
  const { organization, has_account: hasAccount } = welcome
  return (
    <CenteredPage
      title={hasAccount ? strings.back : strings.title}
      hint={organization ? strings.owner(organization.name) : strings.noOrganization}
    >
      <TakeLink token={token} welcome={welcome} />
    </CenteredPage>
  )
}

function TakeLink({ token, welcome }: { readonly token: string; readonly welcome: Welcome }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { email, has_account: hasAccount } = welcome
  const [name, setName] = useState(welcome.name === email ? '' : welcome.name)
  const { isBusy, error, run } = useAction()
  const take = () =>
    run(async () => {
      const body = { token, ...(!hasAccount && { name }) }
      takeSession(queryClient, await answer(app.POST('/app/api/welcome', { body })))
      // To the passkey or password, which whoever comes by a link does not have, or has lost.
      await navigate({ to: welcome.must_sign_in ? '/' : '/account', replace: true })
    })
  if (welcome.must_sign_in)
    return (
      <>
        <p className="mb-4">{strings.mustSignIn(email)}</p>
        <SignInForm email={email} onSignedIn={() => void take()} />
        {error !== null && <Refusal error={error} />}
      </>
    )
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        void take()
      }}
    >
      {hasAccount ? (
        <p>{strings.signInAs(welcome.name, email)}</p>
      ) : (
        <>
          <TextInput label={strings.email} type="email" readOnly value={email} onValue={() => undefined} />
          <TextInput
            label={strings.name}
            hint={strings.nameHint}
            autoComplete="name"
            required
            maxLength={120}
            value={name}
            onValue={setName}
          />
        </>
      )}
      {error !== null && <Refusal error={error} />}
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {hasAccount ? strings.signIn : strings.create}
      </Button>
      <p className="text-sm text-muted">{strings.once}</p>
    </form>
  )
}
