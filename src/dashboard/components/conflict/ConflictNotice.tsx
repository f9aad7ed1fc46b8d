import { useState } from 'react'
import { Button } from '../actions/Button.tsx'
import { Notice } from '../feedback/Notice.tsx'
import { Refusal } from '../feedback/Refusal.tsx'
import { conflictStrings as strings } from './strings.ts'

interface ConflictNoticeProps {
  readonly title?: string
  readonly hint?: string
  readonly keepLabel?: string
  readonly takeLabel?: string
  /** Saves what is typed here all the same. */
  readonly onKeep: () => Promise<void>
  /** Shows what was saved elsewhere instead. */
  readonly onTake: () => Promise<void>
}

/** What is edited here was changed elsewhere: the person decides which stays. */
export function ConflictNotice({
  title = strings.title,
  hint = strings.hint,
  keepLabel = strings.keepMine,
  takeLabel = strings.takeTheirs,
  onKeep,
  onTake,
}: ConflictNoticeProps) {
  const [error, setError] = useState<unknown>(null)
  const run = (choice: () => Promise<void>) => {
    setError(null)
    choice().catch(setError)
  }
  return (
    <div role="alert" className="flex flex-col gap-2">
      <Notice
        tone="warn"
        title={title}
        action={
          <div className="flex flex-wrap gap-2">
            <Button size="small" kind="primary" onClick={() => run(onKeep)}>
              {keepLabel}
            </Button>
            <Button size="small" onClick={() => run(onTake)}>
              {takeLabel}
            </Button>
          </div>
        }
      >
        {hint}
      </Notice>
      {error !== null && <Refusal error={error} />}
    </div>
  )
}
