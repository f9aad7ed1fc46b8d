import * as Ariakit from '@ariakit/react/combobox'
import { useDeferredValue, useState } from 'react'
import { strings } from '../strings.ts'
import { Field, type FieldProps } from './Field.tsx'
import type { Option } from './Select.tsx'

interface ComboboxProps<Value extends string> extends FieldProps {
  readonly value: Value | null
  readonly onValue: (value: Value) => void
  readonly options: readonly Option<Value>[]
  readonly placeholder?: string
}

const mostShown = 100

/** A field with many fixed choices: typing finds one. */
export function Combobox<Value extends string>(props: ComboboxProps<Value>) {
  const { label, hint, error, isOptional = false, value, onValue, options, placeholder } = props
  const chosen = options.find(option => option.value === value)?.label ?? ''
  const [text, setText] = useState(chosen)
  const wanted = useDeferredValue(text.trim().toLowerCase())
  const found =
    wanted === chosen.toLowerCase() ? options : options.filter(({ label }) => label.toLowerCase().includes(wanted))
  return (
    <Field label={label} hint={hint} error={error} isOptional={isOptional}>
      {control => (
        <Ariakit.ComboboxProvider
          value={text}
          setValue={setText}
          selectedValue={value ?? ''}
          setSelectedValue={selected => {
            const option = options.find(({ value }) => value === selected)
            if (!option) return
            onValue(option.value)
            setText(option.label)
          }}
        >
          <Ariakit.Combobox
            {...control}
            {...(placeholder !== undefined && { placeholder })}
            autoSelect
            className="input"
            onBlur={() => setText(chosen)}
          />
          <Ariakit.ComboboxPopover
            portal
            sameWidth
            gutter={4}
            className="z-50 max-h-64 overflow-auto rounded-lg bg-raised p-1 shadow-pop"
          >
            {found.slice(0, mostShown).map(option => (
              <Ariakit.ComboboxItem
                key={option.value}
                value={option.value}
                setValueOnClick={false}
                className="cursor-default truncate rounded-md px-2 py-1.5 text-sm data-active-item:bg-hover aria-selected:font-medium"
              >
                {option.label}
              </Ariakit.ComboboxItem>
            ))}
            {found.length === 0 && <div className="px-2 py-1.5 text-sm text-muted">{strings.noMatch}</div>}
          </Ariakit.ComboboxPopover>
        </Ariakit.ComboboxProvider>
      )}
    </Field>
  )
}
