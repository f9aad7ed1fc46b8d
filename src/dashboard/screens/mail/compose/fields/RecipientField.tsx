import { CircleAlert, X } from 'lucide-react'
import { type ClipboardEvent, type KeyboardEvent, useId, useRef, useState } from 'react'
import { classes } from '../../../../components/classes.ts'
import { SafeText } from '../../../../components/text/SafeText.tsx'
import { mailStrings as strings } from '../../strings.ts'
import { addRecipients, readRecipient, readRecipients } from './recipients.ts'

interface RecipientFieldProps {
  readonly label: string
  /** As the API takes them: `Name <a@x.example>`. */
  readonly value: readonly string[]
  readonly onValue: (value: readonly string[]) => void
  readonly error?: string | null
  readonly hasFocus?: boolean
}

/** Recipients as chips: Enter, a comma or leaving the field makes one; a pasted list makes as many as it has. */
export function RecipientField({ label, value, onValue, error = null, hasFocus = false }: RecipientFieldProps) {
  const [text, setText] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  const recipients = value.map(readRecipient)
  const add = (typed: string) => {
    const added = readRecipients(typed)
    if (added.length > 0) onValue(addRecipients(recipients, added).map(recipient => recipient.text))
    setText('')
  }
  const remove = (position: number) => {
    onValue(value.filter((_, index) => index !== position))
    input.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return
    const isEnd = event.key === 'Enter' || event.key === ';' || event.key === ','
    if (isEnd && text.trim() !== '' && !isQuoting(text)) {
      event.preventDefault()
      add(text)
    } else if (event.key === 'Backspace' && text === '' && value.length > 0) {
      event.preventDefault()
      setText(value.at(-1) ?? '')
      onValue(value.slice(0, -1))
    }
  }
  const onPaste = (event: ClipboardEvent<HTMLInputElement>) => {
    const pasted = event.clipboardData.getData('text')
    if (!/[,;\n@]/.test(pasted)) return
    event.preventDefault()
    add(`${text}${pasted}`)
  }
  return (
    <div className="flex min-w-0 gap-3 border-b border-line py-1.5">
      <label htmlFor={id} className="w-12 shrink-0 pt-1 text-sm text-muted">
        {label}
      </label>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-1">
          {recipients.map((recipient, position) => (
            <span
              key={recipient.address}
              className={classes(
                'inline-flex h-7 max-w-full items-center gap-1 rounded-full pl-2.5 text-sm pointer-coarse:h-9',
                recipient.isValid ? 'bg-sunken ring-1 ring-line ring-inset' : 'bg-bad-soft text-bad',
              )}
              title={recipient.isValid ? recipient.address : strings.invalidRecipient}
            >
              {!recipient.isValid && (
                <CircleAlert className="size-3.5 shrink-0" role="img" aria-label={strings.invalidRecipient} />
              )}
              <SafeText text={recipient.name || recipient.address} className="min-w-0 truncate" />
              <button
                type="button"
                aria-label={strings.removeRecipient(recipient.name || recipient.address)}
                onClick={() => remove(position)}
                className="flex size-7 shrink-0 items-center justify-center rounded-full hover:bg-hover pointer-coarse:size-9"
              >
                <X className="size-3.5" aria-hidden="true" />
              </button>
            </span>
          ))}
          <input
            ref={input}
            id={id}
            // biome-ignore lint/a11y/noAutofocus: the first thing that one does here
            autoFocus={hasFocus}
            type="text"
            inputMode="email"
            autoComplete="off"
            spellCheck={false}
            autoCapitalize="none"
            value={text}
            aria-invalid={error ? true : undefined}
            aria-describedby={error ? `${id}-error` : undefined}
            onChange={event => setText(event.currentTarget.value)}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
            onBlur={() => add(text)}
            className="h-7 min-w-32 flex-1 rounded-sm bg-transparent px-1 text-base outline-offset-0 pointer-coarse:h-9"
          />
        </div>
        {error && (
          <p id={`${id}-error`} className="mt-1 text-sm text-bad">
            {error}
          </p>
        )}
      </div>
    </div>
  )
}

/** Is one within a quoted name, where a comma is part of it? */
function isQuoting(text: string): boolean {
  return (text.match(/"/g) ?? []).length % 2 === 1
}
