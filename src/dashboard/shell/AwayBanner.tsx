import { CloudOff } from 'lucide-react'
import { useServerAway } from '../api/server-away.ts'
import { strings } from './strings.ts'

/** Said at the top while the server does not answer. */
export function AwayBanner() {
  const isAway = useServerAway()
  return (
    <div role="status" className="sticky top-0 z-40">
      {isAway && (
        <p className="flex items-center justify-center gap-2 bg-warn-soft px-4 py-1.5 text-sm font-medium text-warn">
          <CloudOff className="size-4 shrink-0" aria-hidden="true" />
          {strings.away}
        </p>
      )}
    </div>
  )
}
