import type { ComponentProps } from 'react'
import { classes } from '../classes.ts'
import { Field, type FieldProps } from './Field.tsx'

interface TextInputProps extends FieldProps, Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'id'> {
  readonly value: string
  readonly onValue: (value: string) => void
  /** For what is copied or compared by the letter: a domain, a code. */
  readonly isCode?: boolean
}

/** A field for one line of text. */
export function TextInput(props: TextInputProps) {
  const { label, hint, error, isOptional = false, value, onValue, isCode = false, className, ...input } = props
  return (
    <Field label={label} hint={hint} error={error} isOptional={isOptional}>
      {control => (
        <input
          type="text"
          {...(isCode && { spellCheck: false, autoCapitalize: 'none', autoCorrect: 'off' })}
          {...input}
          {...control}
          value={value}
          onChange={event => onValue(event.currentTarget.value)}
          className={classes(
            'input',
            isCode && 'font-mono',
            input.readOnly && 'bg-sunken text-muted shadow-none',
            className,
          )}
        />
      )}
    </Field>
  )
}
