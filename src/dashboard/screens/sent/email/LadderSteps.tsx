import type { ReactNode } from 'react'
import { classes } from '../../../components/classes.ts'
import type { Evidence, Ladder, OffLadder, Rung, RungState } from '../ladder.ts'
import { EvidenceLine } from './EvidenceLine.tsx'
import { RungIcon } from './RungIcon.tsx'
import {
  offStrings,
  proofStrings,
  reportStrings,
  rungStrings,
  stateStrings,
  emailStrings as strings,
} from './strings.ts'

interface LadderStepsProps {
  readonly ladder: Ladder
  /** What the provider reports, as the reason of a silence; undefined: not known yet. */
  readonly reports: keyof typeof reportStrings | undefined
}

/** The rungs of one recipient, below each other, each with what proves it. Where they left the ladder stands between. */
export function LadderSteps({ ladder, reports }: LadderStepsProps) {
  const reached = ladder.rungs.filter(({ state }) => state !== 'missed')
  const missed = ladder.rungs.filter(({ state }) => state === 'missed')
  return (
    <ol aria-label={strings.ladderOf(ladder.recipient)}>
      {reached.map(rung => (
        <RungStep key={rung.name} rung={rung} reports={reports} />
      ))}
      {ladder.off && <OffStep status={ladder.off.status} evidence={ladder.off.evidence} />}
      {missed.map(rung => (
        <RungStep key={rung.name} rung={rung} reports={reports} />
      ))}
    </ol>
  )
}

function RungStep({ rung, reports }: { readonly rung: Rung; readonly reports: LadderStepsProps['reports'] }) {
  const { name, state, evidence } = rung
  const meaning = state === 'proven' ? proofStrings[name] : stateStrings[state]
  return (
    <LadderStep state={state} title={rungStrings[name]} evidence={evidence}>
      {meaning}
      {state === 'unconfirmed' && reports !== undefined && ` ${reportStrings[reports]}`}
    </LadderStep>
  )
}

/** Ends that somebody wanted, or that protect the recipient. */
const harmless: ReadonlySet<OffLadder> = new Set(['suppressed', 'canceled'])

function OffStep({ status, evidence }: { readonly status: OffLadder; readonly evidence: readonly Evidence[] }) {
  const [title, proof] = offStrings[status]
  return (
    <LadderStep state={harmless.has(status) ? 'harmless' : 'off'} title={title} evidence={evidence}>
      {proof}
    </LadderStep>
  )
}

interface LadderStepProps {
  readonly state: RungState | 'off' | 'harmless'
  readonly title: string
  readonly evidence: readonly Evidence[]
  readonly children: ReactNode
}

function LadderStep({ state, title, evidence, children }: LadderStepProps) {
  const [first, ...others] = evidence
  const isFaint = state === 'missed' || state === 'open'
  return (
    <li
      data-state={state}
      className="relative flex gap-3 pb-4 before:absolute before:top-7 before:bottom-1 before:left-3 before:w-px before:bg-line-strong last:pb-0 last:before:hidden"
    >
      <RungIcon state={state} />
      <div className="min-w-0 flex-1">
        <div className={classes('leading-6 font-medium', isFaint && 'font-normal text-faint')}>{title}</div>
        <div className={classes('text-sm', isFaint ? 'text-faint' : 'text-muted')}>{children}</div>
        {first && <EvidenceLine evidence={first} />}
        {others.length > 0 && (
          <details className="mt-1">
            <summary className="w-fit rounded-sm text-xs text-faint hover:text-ink">
              {strings.moreEvidence(others.length)}
            </summary>
            {others.map(other => (
              <EvidenceLine key={`${other.at} ${other.source} ${other.line}`} evidence={other} />
            ))}
          </details>
        )}
      </div>
    </li>
  )
}
