import { SearchX } from 'lucide-react'
import { LinkButton } from '../../components/actions/LinkButton.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { strings } from '../strings.ts'

/** An address that leads nowhere, or not for this person. */
export function NotFound() {
  return (
    <div className="mx-auto max-w-xl px-4 py-16">
      <EmptyState icon={<SearchX />} title={strings.notFound} action={<LinkButton to="/">{strings.home}</LinkButton>}>
        {strings.notFoundHint}
      </EmptyState>
    </div>
  )
}
