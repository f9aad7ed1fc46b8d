import * as Ariakit from '@ariakit/react/combobox'
import { CornerDownLeft, Search } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { NavigationGroup } from '../navigation/navigation.ts'
import { strings } from '../strings.ts'
import { type Command, useCommands } from './useCommands.ts'

interface CommandPaletteProps {
  readonly onClose: () => void
  readonly onHelp: () => void
  readonly navigation: readonly NavigationGroup[]
}

/** Ctrl-K: goes to a screen or runs a command by a part of its name. */
export function CommandPalette({ onClose, onHelp, navigation }: CommandPaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const commands = useCommands(navigation, onHelp)
  useEffect(() => {
    const element = dialog.current
    if (!element?.open) element?.showModal()
    return () => element?.close()
  }, [])
  const found = [...Map.groupBy(findCommands(commands, text), command => command.group)]
  const run = (command: Command) => {
    onClose()
    command.run()
  }
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
        <Ariakit.ComboboxList alwaysVisible aria-label={strings.commands} className="max-h-[50vh] overflow-y-auto p-2">
          {found.map(([group, members]) => (
            <Ariakit.ComboboxGroup key={group}>
              <Ariakit.ComboboxGroupLabel className="px-2.5 pt-2 pb-1 text-xs font-medium text-faint">
                {group}
              </Ariakit.ComboboxGroupLabel>
              {members.map(command => (
                <CommandItem key={command.id} command={command} onRun={() => run(command)} />
              ))}
            </Ariakit.ComboboxGroup>
          ))}
          {found.length === 0 && <p className="px-2.5 py-2 text-sm text-muted">{strings.noCommand}</p>}
        </Ariakit.ComboboxList>
      </Ariakit.ComboboxProvider>
    </dialog>
  )
}

/** Those whose name has all words of the text, in any order. */
function findCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return commands.filter(({ label, group }) => words.every(word => `${label} ${group}`.toLowerCase().includes(word)))
}

function CommandItem({ command, onRun }: { readonly command: Command; readonly onRun: () => void }) {
  const { icon: Icon, label, keys } = command
  return (
    <Ariakit.ComboboxItem
      value={label}
      setValueOnClick={false}
      hideOnClick={false}
      onClick={onRun}
      className="group flex min-h-9 cursor-default items-center gap-2.5 rounded-md px-2.5 text-sm data-active-item:bg-hover pointer-coarse:min-h-11"
    >
      <Icon className="size-4 shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {keys !== undefined && <kbd className="font-sans text-xs text-faint">{keys}</kbd>}
      <CornerDownLeft className="size-3.5 text-faint opacity-0 group-data-active-item:opacity-100" aria-hidden="true" />
    </Ariakit.ComboboxItem>
  )
}
