import { useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { mailStrings as strings } from '../strings.ts'

interface ConflictNoticeProps {
  readonly isGone: boolean
  /** Saves what is typed here over it, or as a new draft. */
  readonly onKeep: () => Promise<void>
  /** Shows what was saved elsewhere instead. */
  readonly onTake: () => Promise<void>
  readonly onDiscard: () => void
}

/** The draft was changed elsewhere: the person decides which text stays. */
export function ConflictNotice({ isGone, onKeep, onTake, onDiscard }: ConflictNoticeProps) {
  const [error, setError] = useState<unknown>(null)
  const run = (choice: () => Promise<void>) => {
    setError(null)
    choice().catch(setError)
  }
  return (
    <div role="alert" className="flex flex-col gap-2">
      <Notice
        tone="warn"
        title={isGone ? strings.conflictGone : strings.conflict}
        action={
          <div className="flex flex-wrap gap-2">
            <Button size="small" kind="primary" onClick={() => run(onKeep)}>
              {isGone ? strings.keepAsNew : strings.keepMine}
            </Button>
            <Button size="small" onClick={() => (isGone ? onDiscard() : run(onTake))}>
              {isGone ? strings.discardMine : strings.takeTheirs}
            </Button>
          </div>
        }
      >
        {isGone ? strings.conflictGoneHint : strings.conflictHint}
      </Notice>
      {error !== null && <Refusal error={error} />}
    </div>
  )
}
