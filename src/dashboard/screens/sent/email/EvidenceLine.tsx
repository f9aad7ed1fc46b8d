import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import type { Evidence } from '../ladder.ts'
import { sourceStrings, emailStrings as strings } from './strings.ts'

/** When, from whom, and the literal words. */
export function EvidenceLine({ evidence }: { readonly evidence: Evidence }) {
  return (
    <div className="mt-1 min-w-0">
      <div className="text-xs text-faint">
        <Time at={evidence.at} show="full" /> · {sourceStrings[evidence.source]}
      </div>
      {evidence.line && (
        <div className="mt-1 rounded-md bg-sunken px-2 py-1 font-mono text-xs break-words whitespace-pre-wrap text-ink">
          <SafeText text={evidence.line} />
        </div>
      )}
      {evidence.isAmbiguous && <div className="mt-1 text-xs text-warn">{strings.ambiguous}</div>}
    </div>
  )
}
