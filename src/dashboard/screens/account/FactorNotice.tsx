import { useState } from 'react'
import type { Account } from '../../api/account.ts'
import { useSession } from '../../api/session.ts'
import { LinkButton } from '../../components/actions/LinkButton.tsx'
import { Notice } from '../../components/feedback/Notice.tsx'
import { accountStrings as strings } from './strings.ts'

/** What is missing before the person can go on, or could sign in again; once it is there, the way on. */
export function FactorNotice({ account }: { readonly account: Account }) {
  const { needs_factor: needsFactor } = useSession()
  const canSignIn = account.has_password || account.passkeys.length > 0
  const isMissing = needsFactor || !canSignIn
  const [wasMissing] = useState(isMissing)
  if (!isMissing && !wasMissing) return null
  const goOn = (
    <LinkButton to="/" size="small" kind={isMissing ? 'secondary' : 'primary'}>
      {strings.goOn}
    </LinkButton>
  )
  return (
    <div className="mb-8">
      {needsFactor && (
        <Notice tone="warn" title={strings.needsFactor}>
          {strings.needsFactorHint}
        </Notice>
      )}
      {!needsFactor && isMissing && (
        <Notice tone="warn" title={strings.noFactor} action={goOn}>
          {strings.noFactorHint}
        </Notice>
      )}
      {!isMissing && <Notice tone="good" title={strings.ready} action={goOn} />}
    </div>
  )
}
