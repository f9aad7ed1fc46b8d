import { Button } from '../../../components/actions/Button.tsx'
import { ConflictNotice } from '../../../components/conflict/ConflictNotice.tsx'
import { conflictStrings } from '../../../components/conflict/strings.ts'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { mailStrings as strings } from '../strings.ts'

interface RestoredNoticeProps {
  readonly onKeep: () => void
  readonly onDiscard: () => void
}

/** What one sees was kept on this device the last time. */
export function RestoredNotice({ onKeep, onDiscard }: RestoredNoticeProps) {
  return (
    <Notice
      tone="info"
      title={strings.restored}
      action={
        <div className="flex flex-wrap gap-2">
          <Button size="small" onClick={onKeep}>
            {conflictStrings.keepMine}
          </Button>
          <Button size="small" onClick={onDiscard}>
            {strings.discardMine}
          </Button>
        </div>
      }
    />
  )
}

interface DraftConflictProps {
  /** It was sent or deleted elsewhere; false: changed. */
  readonly isGone: boolean
  readonly onKeep: () => Promise<void>
  readonly onTake: () => Promise<void>
  /** Gives up what one typed, where nothing else is left. */
  readonly onLeave: () => void
}

/** Somebody else changed the draft meanwhile. */
export function DraftConflict({ isGone, onKeep, onTake, onLeave }: DraftConflictProps) {
  if (!isGone) return <ConflictNotice title={strings.conflict} onKeep={onKeep} onTake={onTake} />
  return (
    <ConflictNotice
      title={strings.conflictGone}
      hint={strings.conflictGoneHint}
      keepLabel={strings.keepAsNew}
      takeLabel={strings.discardMine}
      onKeep={onKeep}
      onTake={async () => onLeave()}
    />
  )
}
