import { Switch } from '../components/fields/Switch.tsx'
import { Dialog } from '../components/overlays/Dialog.tsx'
import { useShortcutGroups, useShortcutSwitch } from '../hooks/shortcuts.ts'
import { strings } from './strings.ts'

interface HelpDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** All keys that work on the screen that is shown, and the switch for them. */
export function HelpDialog({ isOpen, onClose }: HelpDialogProps) {
  const groups = useShortcutGroups()
  const [isOn, setOn] = useShortcutSwitch()
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={strings.shortcuts}>
      <Switch label={strings.shortcutsOn} hint={strings.shortcutsHint} isOn={isOn} onSwitch={setOn} />
      {groups.map(({ name, shortcuts }) => (
        <section key={name} className="mt-5">
          <h3 className="mb-1 text-xs font-medium text-faint">{name}</h3>
          <dl className="divide-y divide-line">
            {shortcuts.map(({ key, label }) => (
              <div key={key} className="flex items-center justify-between gap-4 py-1.5 text-sm">
                <dt>{label}</dt>
                <dd className="flex gap-1">
                  {namesOf(key).map(name => (
                    <kbd
                      key={name}
                      className="min-w-6 rounded-sm border border-line-strong bg-sunken px-1.5 text-center font-sans text-xs leading-5"
                    >
                      {name}
                    </kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}

function namesOf(key: string): readonly string[] {
  return key.startsWith('mod+') ? ['Ctrl', key.slice('mod+'.length).toUpperCase()] : key.split(' ')
}
