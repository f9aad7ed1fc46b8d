import { ChevronDown } from 'lucide-react'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status, Tag } from '../../../components/text/Status.tsx'
import { statusTone } from '../email-status.ts'
import type { Ladder } from '../ladder.ts'
import { LadderSteps } from './LadderSteps.tsx'
import { RecipientMenu } from './RecipientMenu.tsx'
import { RungIcon } from './RungIcon.tsx'
import type { reportStrings } from './strings.ts'

interface LadderCardProps {
  readonly ladder: Ladder
  /** `to`, `cc` or `bcc`. */
  readonly type: string
  readonly brandId: string
  readonly isOpen: boolean
  readonly reports: keyof typeof reportStrings | undefined
}

/** A recipient: their rungs in a row, and when it is opened each with its evidence. */
export function LadderCard({ ladder, type, brandId, isOpen, reports }: LadderCardProps) {
  return (
    <div className="relative rounded-lg border border-line bg-surface">
      <details open={isOpen} className="group">
        <summary className="flex min-h-12 list-none flex-wrap items-center gap-x-3 gap-y-1 rounded-lg py-2 pr-12 pl-3 hover:bg-hover">
          <ChevronDown
            className="size-4 shrink-0 -rotate-90 text-faint transition-transform group-open:rotate-0"
            aria-hidden="true"
          />
          <span className="min-w-0 flex-1 truncate font-medium">
            <SafeText text={ladder.recipient} />
          </span>
          {type !== 'to' && <Tag>{type}</Tag>}
          <span className="hidden items-center gap-0.5 sm:flex" aria-hidden="true">
            {ladder.rungs.map(({ name, state }) => (
              <RungIcon key={name} state={state} className="size-4 [&_svg]:size-2.5" />
            ))}
          </span>
          <Status tone={statusTone(ladder.status)}>{ladder.status}</Status>
        </summary>
        <div className="border-t border-line px-3 py-3 sm:pl-10">
          <LadderSteps ladder={ladder} reports={reports} />
        </div>
      </details>
      <div className="absolute top-2 right-2">
        <RecipientMenu recipient={ladder.recipient} brandId={brandId} />
      </div>
    </div>
  )
}
