import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../../api/account.ts'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { AuthenticatorSection } from './AuthenticatorSection.tsx'
import { BackupCodesSection } from './BackupCodesSection.tsx'
import { FactorNotice } from './FactorNotice.tsx'
import { PasskeysSection } from './PasskeysSection.tsx'
import { PasswordSection } from './PasswordSection.tsx'
import { PreferencesSection } from './PreferencesSection.tsx'
import { ProfileSection } from './ProfileSection.tsx'
import { SessionsSection } from './SessionsSection.tsx'
import { accountStrings as strings } from './strings.ts'

/** `/app/account`. */
export function AccountScreen() {
  const { data: account, error } = useQuery(accountQuery)
  return (
    <div className="mx-auto max-w-3xl">
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      {error && <Refusal error={error} />}
      {!account && !error && <SkeletonRows />}
      {account && (
        <>
          <FactorNotice account={account} />
          <PasskeysSection passkeys={account.passkeys} />
          <PasswordSection account={account} />
          <AuthenticatorSection account={account} />
          <BackupCodesSection account={account} />
          <ProfileSection account={account} />
          <SessionsSection sessions={account.sessions} />
          <PreferencesSection />
        </>
      )}
    </div>
  )
}
