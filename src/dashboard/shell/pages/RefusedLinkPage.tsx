import { LinkButton } from '../../components/actions/LinkButton.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { CenteredPage } from './CenteredPage.tsx'

interface RefusedLinkPageProps {
  readonly title: string
  readonly error: unknown
  readonly toSignIn: string
}

/** A link that somebody was sent does not open anything, with the reason and the way on. */
export function RefusedLinkPage({ title, error, toSignIn }: RefusedLinkPageProps) {
  return (
    <CenteredPage title={title}>
      <Refusal error={error} />
      <div className="mt-4">
        <LinkButton to="/sign-in">{toSignIn}</LinkButton>
      </div>
    </CenteredPage>
  )
}
