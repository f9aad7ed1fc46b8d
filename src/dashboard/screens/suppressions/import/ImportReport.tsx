import type { components } from '../../../api/generated/app.ts'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { suppressionStrings as strings } from '../strings.ts'

interface ImportReportProps {
  readonly counts: components['schemas']['SuppressionImport']
  readonly isDry: boolean
}

/** What an import did, or would do. */
export function ImportReport({ counts: { added, unchanged, bad, bad_lines }, isDry }: ImportReportProps) {
  return (
    <>
      <ul className="flex flex-col gap-1.5">
        <li>
          <Status tone={added > 0 ? 'good' : 'off'}>
            {isDry ? strings.wouldAdd(added) : strings.wereAdded(added)}
          </Status>
        </li>
        {unchanged > 0 && (
          <li>
            <Status tone="off">{strings.unchanged(unchanged)}</Status>
          </li>
        )}
        {bad > 0 && (
          <li>
            <Status tone="warn">{strings.bad(bad)}</Status>
          </li>
        )}
      </ul>
      {bad > 0 && (
        <div className="mt-4">
          <h3 className="mb-1 text-sm font-medium">{strings.badLines}</h3>
          <ul className="max-h-56 overflow-y-auto rounded-md border border-line text-sm" aria-label={strings.badLines}>
            {bad_lines.map(({ line, reason }) => (
              <li key={line} className="flex gap-3 border-b border-line px-3 py-1.5 last:border-0">
                <span className="tabular w-20 shrink-0 text-faint">{strings.lineNumber(line)}</span>
                <SafeText text={reason} className="min-w-0 break-words" />
              </li>
            ))}
            {bad > bad_lines.length && (
              <li className="px-3 py-1.5 text-faint">{strings.moreBad(bad - bad_lines.length)}</li>
            )}
          </ul>
        </div>
      )}
    </>
  )
}
