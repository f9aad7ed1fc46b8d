import { MailOpen } from 'lucide-react'
import { useMailList } from '../list/mail-list-context.ts'
import { mailStrings as strings } from '../strings.ts'

/** Beside the list while no message is open. */
export function ChooseMessage() {
  const { list } = useMailList()
  if (!list.rows || list.rows.length === 0) return null
  return (
    <div className="flex min-h-80 flex-col items-center justify-center rounded-lg border border-dashed border-line-strong text-center text-muted">
      <MailOpen className="mb-3 size-6 text-faint" aria-hidden="true" />
      <p>{strings.chooseMessage}</p>
    </div>
  )
}
