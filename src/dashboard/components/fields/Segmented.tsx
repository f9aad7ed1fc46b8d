import { useId } from 'react'
import { classes } from '../classes.ts'
import type { Option } from './Select.tsx'

interface SegmentedProps<Value extends string> {
  /** What is chosen, for screen readers. */
  readonly label: string
  readonly value: Value
  readonly onValue: (value: Value) => void
  readonly options: readonly Option<Value>[]
}

/** Two to five choices beside each other, of which one holds: a view, a filter. */
export function Segmented<Value extends string>({ label, value, onValue, options }: SegmentedProps<Value>) {
  const name = useId()
  return (
    <fieldset className="inline-flex max-w-full min-w-0 overflow-x-auto rounded-md bg-sunken p-0.5 ring-1 ring-line ring-inset">
      <legend className="sr-only">{label}</legend>
      {options.map(option => (
        <label
          key={option.value}
          className={classes(
            'relative inline-flex h-7 items-center rounded-[5px] px-2.5 text-sm font-medium whitespace-nowrap transition-colors',
            'has-focus-visible:outline-2 has-focus-visible:outline-accent pointer-coarse:h-9',
            option.value === value ? 'bg-raised text-ink shadow-xs ring-1 ring-line' : 'text-muted hover:text-ink',
          )}
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onValue(option.value)}
            className="sr-only"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
