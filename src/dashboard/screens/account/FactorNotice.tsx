import type { Account } from '../../api/account.ts'
import { useSession } from '../../api/session.ts'
import { LinkButton } from '../../components/actions/LinkButton.tsx'
import { Notice } from '../../components/feedback/Notice.tsx'
import { accountStrings as strings } from './strings.ts'

/** What is missing before the person can go on, or could sign in again. */
export function FactorNotice({ account }: { readonly account: Account }) {
  const { needs_factor: needsFactor } = useSession()
  const canSignIn = account.has_password || account.passkeys.length > 0
  if (canSignIn && !needsFactor) return null
  return (
    <div className="mb-8">
      {needsFactor ? (
        <Notice tone="warn" title={strings.needsFactor}>
          {strings.needsFactorHint}
        </Notice>
      ) : (
        <Notice
          tone="warn"
          title={strings.noFactor}
          action={
            <LinkButton to="/" size="small">
              {strings.goOn}
            </LinkButton>
          }
        >
          {strings.noFactorHint}
        </Notice>
      )}
    </div>
  )
}
