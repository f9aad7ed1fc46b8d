import { CircleAlert } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { strings } from '../strings.ts'

/** What a control of a {@link Field} takes over: its id, and what describes it. */
export interface ControlProps {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

/** What every field with a label has. */
export interface FieldProps {
  readonly label: string
  /** Explains what belongs there; stays while one types. */
  readonly hint?: ReactNode
  /** What is wrong with the value: the message of a refusal whose `param` is this field (`errorOf`). */
  readonly error?: string | null | undefined
  readonly isOptional?: boolean
}

/** A label, a control, a hint and an error that belong together. `children` draws the control with the given props. */
export function Field({
  label,
  hint,
  error,
  isOptional = false,
  children,
}: FieldProps & { readonly children: (control: ControlProps) => ReactNode }) {
  const id = useId()
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ')
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {isOptional && <span className="font-normal text-faint"> ({strings.optional})</span>}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <div id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </div>
      )}
      {error && (
        <div id={`${id}-error`} className="flex items-start gap-1.5 text-sm text-bad">
          <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
          {error}
        </div>
      )}
    </div>
  )
}
