import { type ReactNode, useId } from 'react'

interface CheckboxProps {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly isChecked: boolean
  readonly onChecked: (isChecked: boolean) => void
  readonly isDisabled?: boolean
}

/** A box to tick, with its label. */
export function Checkbox({ label, hint, isChecked, onChecked, isDisabled = false }: CheckboxProps) {
  const id = useId()
  return (
    <div className="flex items-start gap-2.5">
      <input
        type="checkbox"
        id={id}
        checked={isChecked}
        disabled={isDisabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={event => onChecked(event.currentTarget.checked)}
        className="mt-0.75 size-4 shrink-0 accent-accent"
      />
      <div className="min-w-0">
        <label htmlFor={id}>{label}</label>
        {hint && (
          <div id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </div>
        )}
      </div>
    </div>
  )
}
