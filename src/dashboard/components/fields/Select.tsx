import type { ComponentProps } from 'react'
import { classes } from '../classes.ts'
import { Field, type FieldProps } from './Field.tsx'

/** A choice of a select or a segmented control. */
export interface Option<Value extends string> {
  readonly value: Value
  readonly label: string
}

interface SelectProps<Value extends string>
  extends FieldProps,
    Omit<ComponentProps<'select'>, 'value' | 'onChange' | 'id' | 'children'> {
  readonly value: Value
  readonly onValue: (value: Value) => void
  readonly options: readonly Option<Value>[]
}

/** A field with a few fixed choices: the platform's own list. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, hint, error, isOptional = false, value, onValue, options, className, ...select } = props
  return (
    <Field label={label} hint={hint} error={error} isOptional={isOptional}>
      {control => (
        <select
          {...select}
          {...control}
          value={value}
          onChange={event => {
            const chosen = options.find(option => option.value === event.currentTarget.value)
            if (chosen) onValue(chosen.value)
          }}
          className={classes('input pr-8', className)}
        >
          {options.map(option => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
