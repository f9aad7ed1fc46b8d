import * as Ariakit from '@ariakit/react/combobox'
import { useNavigate, useParams } from '@tanstack/react-router'
import { CornerDownLeft, Search } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { NavigationGroup } from './navigation/navigation.ts'
import { keepBrand } from './navigation/useGoShortcuts.ts'
import { strings } from './strings.ts'

interface CommandPaletteProps {
  readonly onClose: () => void
  readonly navigation: readonly NavigationGroup[]
}

/** Ctrl-K: goes to a screen or runs a command by a part of its name. */
export function CommandPalette({ onClose, navigation }: CommandPaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const navigate = useNavigate()
  const { organization } = useParams({ strict: false })
  const [text, setText] = useState('')
  useEffect(() => {
    const element = dialog.current
    if (!element?.open) element?.showModal()
    return () => element?.close()
  }, [])
  const wanted = text.trim().toLowerCase()
  const items = navigation.flatMap(group => group.items).filter(({ label }) => label.toLowerCase().includes(wanted))
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the keyboard's way (onCancel)
    <dialog
      ref={dialog}
      aria-label={strings.commands}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
      onClick={event => {
        if (event.target === dialog.current) onClose()
      }}
      className="mx-auto mt-[10vh] mb-auto w-full max-w-[calc(100%-2rem)] flex-col rounded-xl bg-raised text-ink shadow-pop open:flex sm:max-w-lg"
    >
      <Ariakit.ComboboxProvider open setValue={setText} value={text}>
        <div className="flex items-center gap-2.5 border-b border-line px-4">
          <Search className="size-4 shrink-0 text-faint" aria-hidden="true" />
          <Ariakit.Combobox
            autoSelect="always"
            autoFocus
            aria-label={strings.commands}
            placeholder={strings.commandsPlaceholder}
            className="h-12 w-full bg-transparent text-lg outline-none"
          />
        </div>
        <Ariakit.ComboboxList alwaysVisible aria-label={strings.screens} className="max-h-[50vh] overflow-y-auto p-2">
          {items.map(({ to, label, icon: Icon }) => (
            <Ariakit.ComboboxItem
              key={to}
              value={label}
              setValueOnClick={false}
              hideOnClick={false}
              onClick={() => {
                onClose()
                void navigate({ to, params: { organization }, search: keepBrand } as never)
              }}
              className="group flex min-h-9 cursor-default items-center gap-2.5 rounded-md px-2.5 text-sm data-active-item:bg-hover pointer-coarse:min-h-11"
            >
              <Icon className="size-4 text-faint" aria-hidden="true" />
              <span className="flex-1">{label}</span>
              <CornerDownLeft
                className="size-3.5 text-faint opacity-0 group-data-active-item:opacity-100"
                aria-hidden="true"
              />
            </Ariakit.ComboboxItem>
          ))}
          {items.length === 0 && <p className="px-2.5 py-2 text-sm text-muted">{strings.noCommand}</p>}
        </Ariakit.ComboboxList>
      </Ariakit.ComboboxProvider>
    </dialog>
  )
}
