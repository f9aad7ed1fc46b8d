import { Notice } from '../../../components/feedback/Notice.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { backupStrings as strings } from './strings.ts'

/** The result of a task `backup_verify`. */
export interface Verified {
  readonly id: string
  readonly whole: boolean
  readonly restored: boolean
  readonly rows: number
  readonly blobs: number
  readonly damages: readonly string[]
}

const shownDamages = 20

/** What a verification found. */
export function VerifyResult({ result: { id, whole, restored, rows, blobs, damages } }: { readonly result: Verified }) {
  if (whole)
    return (
      <Notice tone={restored ? 'good' : 'info'} title={strings.whole(id)}>
        {restored ? strings.restored(rows, blobs) : strings.read}
      </Notice>
    )
  return (
    <Notice tone="bad" title={strings.damaged(id)}>
      <ul>
        {damages.slice(0, shownDamages).map(damage => (
          <li key={damage} className="break-words">
            <SafeText text={damage} />
          </li>
        ))}
        {damages.length > shownDamages && <li>{strings.moreDamages(damages.length - shownDamages)}</li>}
      </ul>
    </Notice>
  )
}
