import { Checkbox } from '../fields/Checkbox.tsx'
import { type EventType, eventGroups } from './event-types.ts'
import { eventTypeStrings as strings } from './strings.ts'

interface TypePickerProps {
  /** What is chosen, for screen readers. */
  readonly label: string
  /** Those that may be chosen, in any order. */
  readonly offered: readonly EventType[]
  readonly value: readonly EventType[]
  readonly onValue: (value: readonly EventType[]) => void
}

/** Types of events to tick, by what they concern, each with what it means. */
export function TypePicker({ label, offered, value, onValue }: TypePickerProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-5">
      <legend className="sr-only">{label}</legend>
      {eventGroups.map(({ key, types }) => {
        const shown = types.filter(type => offered.includes(type))
        if (shown.length === 0) return null
        const isFull = shown.every(type => value.includes(type))
        const others = value.filter(type => !(shown as readonly EventType[]).includes(type))
        const name = strings.groups[key]
        return (
          <fieldset key={key} className="min-w-0">
            <legend className="float-left text-sm font-medium">{name}</legend>
            {shown.length > 1 && (
              <button
                type="button"
                aria-label={isFull ? strings.noneOf(name) : strings.allOf(name)}
                onClick={() => onValue(isFull ? others : [...others, ...shown])}
                className="float-right rounded-sm text-sm font-medium text-accent-ink hover:underline"
              >
                {isFull ? strings.none : strings.all}
              </button>
            )}
            <div className="clear-both grid gap-x-6 gap-y-1.5 pt-1.5 text-sm sm:grid-cols-2">
              {shown.map(type => (
                <Checkbox
                  key={type}
                  label={<span className="font-mono text-xs">{type}</span>}
                  hint={strings.hints[type]}
                  isChecked={value.includes(type)}
                  onChecked={isChecked => onValue(isChecked ? [...value, type] : value.filter(other => other !== type))}
                />
              ))}
            </div>
          </fieldset>
        )
      })}
    </fieldset>
  )
}
