import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, app } from '../../api/client.ts'
import { sessionQuery, takeSession } from '../../api/session.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { KeyValues } from '../../components/lists/KeyValues.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Tag } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useAction } from '../../hooks/action.ts'
import { useLinkToken } from '../../hooks/link-token.ts'
import { CenteredPage } from '../../shell/pages/CenteredPage.tsx'
import { RefusedLinkPage } from '../../shell/pages/RefusedLinkPage.tsx'
import { SignInForm } from '../sign-in/SignInForm.tsx'
import type { OpenInvitation } from './invitation.ts'
import { JoinForm } from './JoinForm.tsx'
import { invitationStrings as strings } from './strings.ts'

/** `/app/invitation#<token>`. */
export function InvitationScreen() {
  const token = useLinkToken()
  const { data: invitation, error } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => answer(app.POST('/app/api/invitations/look', { body: { token } })),
    enabled: token !== '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  const refused = token === '' ? new Error(strings.noToken) : error
  if (refused) return <RefusedLinkPage title={strings.closedTitle} error={refused} toSignIn={strings.toSignIn} />
  if (!invitation)
    return (
      <CenteredPage title={strings.title} hint={strings.looking}>
        <SkeletonRows />
      </CenteredPage>
    )
  return (
    <CenteredPage title={strings.join(invitation.organization.name)}>
      <div className="mb-6">
        <KeyValues
          items={[
            [strings.brands, invitation.brands.map(({ name }) => <SafeText key={name} text={`${name} `} />)],
            [
              strings.permissions,
              <span key="permissions" className="flex flex-wrap gap-1">
                {invitation.permissions.length === 0
                  ? strings.noPermissions
                  : invitation.permissions.map(permission => <Tag key={permission}>{permission}</Tag>)}
              </span>,
            ],
            [strings.until, <Time key="until" at={invitation.expires_at} show="full" />],
          ]}
        />
      </div>
      <Accept token={token} invitation={invitation} />
    </CenteredPage>
  )
}

function Accept({ token, invitation }: { readonly token: string; readonly invitation: OpenInvitation }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { data: session, isPending } = useQuery({ ...sessionQuery, retry: false })
  const [isKnown, setKnown] = useState(invitation.has_account)
  const { isBusy, error, run } = useAction()
  const accept = () =>
    run(async () => {
      takeSession(queryClient, await answer(app.POST('/app/api/invitations/accept', { body: { token } })))
      await navigate({ to: '/', replace: true })
    })
  if (isPending) return <SkeletonRows />
  if (session)
    return (
      <div className="flex flex-col gap-4">
        {error !== null && <Refusal error={error} />}
        <Button kind="primary" isBusy={isBusy} onClick={() => void accept()}>
          {strings.acceptAs(session.user.email)}
        </Button>
      </div>
    )
  if (isKnown)
    return (
      <>
        <p className="mb-4">
          {invitation.email === null ? strings.signInToJoin : strings.mustSignIn(invitation.email)}
        </p>
        <SignInForm email={invitation.email ?? undefined} onSignedIn={() => void accept()} />
        {!invitation.has_account && (
          <Button kind="quiet" className="mt-2 w-full" onClick={() => setKnown(false)}>
            {strings.noAccount}
          </Button>
        )}
      </>
    )
  return <JoinForm token={token} invitation={invitation} onKnown={() => setKnown(true)} />
}
