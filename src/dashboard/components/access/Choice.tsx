import { type ReactNode, useId } from 'react'
import { classes } from '../classes.ts'

/** A choice with a sentence about what it means. */
export interface DescribedOption<Value extends string> {
  readonly value: Value
  readonly label: string
  readonly hint: ReactNode
}

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly onValue: (value: Value) => void
  readonly options: readonly DescribedOption<Value>[]
}

/** A few choices below each other, each with what it means. */
export function Choice<Value extends string>({ label, value, onValue, options }: ChoiceProps<Value>) {
  const name = useId()
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {options.map(option => (
          <label
            key={option.value}
            className={classes(
              'flex items-start gap-2.5 rounded-md border px-3 py-2 transition-colors',
              'has-focus-visible:outline-2 has-focus-visible:outline-accent',
              option.value === value ? 'border-accent bg-accent-soft' : 'border-line-strong hover:bg-hover',
            )}
          >
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onValue(option.value)}
              className="mt-1 size-3.5 shrink-0 accent-accent"
            />
            <span className="min-w-0">
              <span className="block font-medium">{option.label}</span>
              <span className="block text-sm text-muted">{option.hint}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
