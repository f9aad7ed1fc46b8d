import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { IconButton } from '../actions/IconButton.tsx'
import { strings } from '../strings.ts'
import { dismissToast, useToasts } from './toasts.ts'

/** Where toasts are shown; screen readers say them. In the layout, once. */
export function Toasts() {
  const toasts = useToasts()
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-0 bottom-16 z-40 flex flex-col items-center gap-2 px-4 lg:bottom-6"
    >
      {toasts.map(({ id, text, kind, undo }) => (
        <div
          key={id}
          className="pointer-events-auto flex w-full max-w-md items-center gap-2 rounded-lg bg-raised py-1.5 pr-1.5 pl-3 shadow-pop"
        >
          {kind === 'done' ? (
            <CircleCheck className="size-4 shrink-0 text-good" aria-hidden="true" />
          ) : (
            <CircleAlert className="size-4 shrink-0 text-bad" aria-hidden="true" />
          )}
          <span className="min-w-0 flex-1 text-sm">{text}</span>
          {undo && (
            <button
              type="button"
              className="h-7 rounded-md px-2 text-sm font-medium text-accent-ink hover:bg-hover"
              onClick={() => {
                dismissToast(id)
                undo()
              }}
            >
              {strings.undo}
            </button>
          )}
          <IconButton size="small" label={strings.dismiss} icon={<X />} onClick={() => dismissToast(id)} />
        </div>
      ))}
    </div>
  )
}
