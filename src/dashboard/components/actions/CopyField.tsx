import { TriangleAlert } from 'lucide-react'
import { strings } from '../strings.ts'
import { CopyButton } from './CopyButton.tsx'

interface CopyFieldProps {
  /** What the value is: "API key". */
  readonly label: string
  readonly value: string
  /** Says that it cannot be shown again. */
  readonly isShownOnce?: boolean
}

/** A value to be copied: a key, a link, a DNS record. */
export function CopyField({ label, value, isShownOnce = false }: CopyFieldProps) {
  return (
    <div className="min-w-0">
      <div className="mb-1 text-sm font-medium">{label}</div>
      <div className="flex items-center gap-1 rounded-md border border-line-strong bg-sunken py-0.5 pr-0.5 pl-2.5">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long value is scrolled with the keyboard */}
        <code className="min-w-0 flex-1 overflow-x-auto font-mono text-sm whitespace-nowrap" tabIndex={0}>
          {value}
        </code>
        <CopyButton text={value} label={`${strings.copy}: ${label}`} />
      </div>
      {isShownOnce && (
        <p className="mt-1.5 flex items-center gap-1.5 text-sm text-warn">
          <TriangleAlert className="size-4 shrink-0" aria-hidden="true" />
          {strings.shownOnce}
        </p>
      )}
    </div>
  )
}
