import { Segmented } from '../../components/fields/Segmented.tsx'
import { Switch } from '../../components/fields/Switch.tsx'
import { Card, Section } from '../../components/layout/Section.tsx'
import { useShortcutSwitch } from '../../hooks/shortcuts.ts'
import { useTheme } from '../../hooks/theme.ts'
import { accountStrings as strings } from './strings.ts'

/** What this browser keeps for itself. */
export function PreferencesSection() {
  const [theme, chooseTheme] = useTheme()
  const [isOn, setOn] = useShortcutSwitch()
  return (
    <Section title={strings.preferences}>
      <Card>
        <div className="flex flex-col gap-5">
          <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
            <span className="font-medium">{strings.theme}</span>
            <Segmented
              label={strings.theme}
              value={theme}
              onValue={chooseTheme}
              options={[
                { value: 'system', label: strings.themes.system },
                { value: 'light', label: strings.themes.light },
                { value: 'dark', label: strings.themes.dark },
              ]}
            />
          </div>
          <Switch label={strings.shortcuts} hint={strings.shortcutsHint} isOn={isOn} onSwitch={setOn} />
        </div>
      </Card>
    </Section>
  )
}
