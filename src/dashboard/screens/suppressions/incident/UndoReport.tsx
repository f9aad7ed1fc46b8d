import type { components } from '../../../api/generated/app.ts'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { suppressionStrings as strings } from '../strings.ts'

interface UndoReportProps {
  readonly examples: readonly components['schemas']['SuppressionUndo']['examples'][number][]
  /** Of how many these are examples. */
  readonly count: number
}

/** Suppressions that are undone, each with the line that caused it. */
export function UndoReport({ examples, count }: UndoReportProps) {
  if (examples.length === 0) return null
  return (
    <ul className="max-h-64 overflow-y-auto rounded-md border border-line text-sm" aria-label={strings.title}>
      {examples.map(({ brand_id, email, evidence }) => (
        <li key={`${brand_id} ${email}`} className="border-b border-line px-3 py-1.5 last:border-0">
          <SafeText text={email} className="block truncate font-medium" />
          <SafeText text={evidence} none={strings.noLine} className="block truncate font-mono text-xs text-muted" />
        </li>
      ))}
      {count > examples.length && (
        <li className="px-3 py-1.5 text-faint">{strings.moreBad(count - examples.length)}</li>
      )}
    </ul>
  )
}
