import type { ComponentProps } from 'react'
import { classes } from '../classes.ts'
import { Field, type FieldProps } from './Field.tsx'

interface TextAreaProps extends FieldProps, Omit<ComponentProps<'textarea'>, 'value' | 'onChange' | 'id'> {
  readonly value: string
  readonly onValue: (value: string) => void
}

/** A field for several lines of text; it grows with them. */
export function TextArea(props: TextAreaProps) {
  const { label, hint, error, isOptional = false, value, onValue, className, ...area } = props
  return (
    <Field label={label} hint={hint} error={error} isOptional={isOptional}>
      {control => (
        <textarea
          rows={4}
          {...area}
          {...control}
          value={value}
          onChange={event => onValue(event.currentTarget.value)}
          className={classes('input field-sizing-content max-h-[60vh] min-h-20', className)}
        />
      )}
    </Field>
  )
}
