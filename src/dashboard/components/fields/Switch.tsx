import { type ReactNode, useId } from 'react'
import { classes } from '../classes.ts'

interface SwitchProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly isOn: boolean
  readonly onSwitch: (isOn: boolean) => void
  readonly isDisabled?: boolean
}

/** Turns something on or off at once, without a form. */
export function Switch({ label, hint, isOn, onSwitch, isDisabled = false }: SwitchProps) {
  const id = useId()
  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <div id={id} className="font-medium">
          {label}
        </div>
        {hint && (
          <div id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </div>
        )}
      </div>
      <button
        type="button"
        role="switch"
        aria-checked={isOn}
        aria-labelledby={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
        disabled={isDisabled}
        onClick={() => onSwitch(!isOn)}
        className={classes(
          'mt-0.5 inline-flex h-5 w-9 shrink-0 items-center rounded-full border p-0.5 transition-colors',
          isOn ? 'border-accent bg-accent' : 'border-faint bg-sunken',
        )}
      >
        <span
          className={classes(
            'size-3.5 rounded-full transition-transform',
            isOn ? 'translate-x-4 bg-white' : 'bg-faint',
          )}
        />
      </button>
    </div>
  )
}
