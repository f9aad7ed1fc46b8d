import { Building2 } from 'lucide-react'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { strings } from '../strings.ts'

/** For who is signed in and is a member of nothing. */
export function NoOrganization() {
  return (
    <main className="mx-auto max-w-xl px-4 py-16">
      <EmptyState icon={<Building2 />} title={strings.noOrganization}>
        {strings.noOrganizationHint}
      </EmptyState>
    </main>
  )
}
