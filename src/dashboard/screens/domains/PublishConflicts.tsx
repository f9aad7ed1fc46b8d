import { Notice } from '../../components/feedback/Notice.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { purposes, domainDetailStrings as strings } from './strings.ts'
import type { Publication } from './types.ts'

/** What was not published, because records that Mailroom did not make stand in the way; it never overwrites them. */
export function PublishConflicts({ conflicts }: Pick<Publication, 'conflicts'>) {
  if (conflicts.length === 0) return null
  return (
    <Notice tone="warn" title={strings.conflicts}>
      <ul className="mt-1 flex flex-col gap-2">
        {conflicts.map(({ record, existing, reason }) => (
          <li key={`${record.type} ${record.name} ${record.value}`}>
            <span className="font-medium text-ink">{purposes[record.purpose]}</span>: {reason}
            {existing.length > 0 && <div className="text-xs">{strings.conflictExisting}</div>}
            {existing.map(({ type, name, value }) => (
              <div key={`${type} ${value}`} className="font-mono text-xs break-all">
                <SafeText text={`${name} ${type} ${value}`} />
              </div>
            ))}
          </li>
        ))}
      </ul>
    </Notice>
  )
}
