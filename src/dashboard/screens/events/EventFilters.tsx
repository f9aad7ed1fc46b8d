import { useNavigate } from '@tanstack/react-router'
import { eventGroups, readableTypes } from '../../components/events/event-types.ts'
import { eventTypeStrings } from '../../components/events/strings.ts'
import { Segmented } from '../../components/fields/Segmented.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { type EventFilter, readEventFilter } from './event-filter.ts'
import { eventStrings as strings } from './strings.ts'

/** Which events, and whether new ones appear by themselves. */
export function EventFilters({ type, live }: EventFilter) {
  const { may } = useOrganization()
  const navigate = useNavigate({ from: '/$organization/events' })
  const readable = readableTypes(may)
  const change = (changed: Readonly<Record<string, unknown>>) =>
    void navigate({
      search: ({ brand, ...filter }) => ({
        ...(brand && { brand }),
        ...readEventFilter({ ...filter, ...changed }),
      }),
    })
  return (
    <div className="mb-3 flex flex-wrap gap-2">
      <Segmented
        label={strings.order}
        value={live ? 'live' : 'newest'}
        onValue={value => change({ live: value === 'live' })}
        options={[
          { value: 'newest', label: strings.newest },
          { value: 'live', label: strings.live },
        ]}
      />
      <select
        aria-label={strings.filter}
        className="input w-auto max-w-full pr-8"
        value={type ?? ''}
        onChange={event => change({ type: event.currentTarget.value })}
      >
        <option value="">{strings.all}</option>
        {eventGroups
          .map(({ key, types }) => ({ key, types: types.filter(each => readable.includes(each)) }))
          .filter(({ types }) => types.length > 0)
          .map(({ key, types }) => (
            <optgroup key={key} label={eventTypeStrings.groups[key]}>
              {types.length > 1 && <option value={key}>{strings.allOf(eventTypeStrings.groups[key])}</option>}
              {types.map(each => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </optgroup>
          ))}
      </select>
    </div>
  )
}
