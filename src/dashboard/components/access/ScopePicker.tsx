import { Checkbox } from '../fields/Checkbox.tsx'
import { type Scope, scopeGroups } from './scopes.ts'
import { accessStrings } from './strings.ts'

interface ScopePickerProps {
  /** What is chosen, for screen readers. */
  readonly label: string
  /** Those that may be chosen, in any order. */
  readonly offered: readonly Scope[]
  readonly value: readonly Scope[]
  readonly onValue: (value: readonly Scope[]) => void
}

/** Permissions to tick, by what they concern. */
export function ScopePicker({ label, offered, value, onValue }: ScopePickerProps) {
  return (
    <fieldset className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
      <legend className="sr-only">{label}</legend>
      {scopeGroups.map(({ key, scopes }) => {
        const shown = scopes.filter(scope => offered.includes(scope))
        if (shown.length === 0) return null
        return (
          <fieldset key={key} className="min-w-0">
            <legend className="mb-1 text-sm font-medium">{accessStrings.groups[key]}</legend>
            <div className="flex flex-col gap-1 text-sm text-muted">
              {shown.map(scope => (
                <Checkbox
                  key={scope}
                  label={accessStrings.scopes[scope]}
                  isChecked={value.includes(scope)}
                  onChecked={isChecked =>
                    onValue(isChecked ? [...value, scope] : value.filter(other => other !== scope))
                  }
                />
              ))}
            </div>
          </fieldset>
        )
      })}
    </fieldset>
  )
}
