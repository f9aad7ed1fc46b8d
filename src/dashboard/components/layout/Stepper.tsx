import { Check, CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'
import { strings } from '../strings.ts'

/** A step of a {@link Stepper}. `failed`: it was done, and is not any more, or needs somebody. */
export interface Step {
  readonly key: string
  readonly title: string
  readonly state: 'done' | 'current' | 'waits' | 'failed'
  /** A line below the title. */
  readonly note?: ReactNode
  /** What has to be done; drawn for the steps that are open. */
  readonly content?: ReactNode
}

const words = { done: strings.done, current: strings.current, waits: strings.waits, failed: strings.failed }

/** Steps in their order, below each other: what is done, what is next, what comes after. */
export function Stepper({ label, steps }: { readonly label: string; readonly steps: readonly Step[] }) {
  return (
    <ol aria-label={label}>
      {steps.map((step, index) => (
        <li
          key={step.key}
          className="relative flex gap-3 pb-6 last:pb-0"
          aria-current={step.state === 'current' ? 'step' : undefined}
        >
          {index < steps.length - 1 && (
            <span
              className={classes(
                'absolute top-8 bottom-1 left-3 w-px',
                step.state === 'done' ? 'bg-good/50' : 'bg-line-strong',
              )}
            />
          )}
          <Marker state={step.state} number={index + 1} />
          <div className="min-w-0 flex-1">
            <h2 className={classes('text-base leading-6 font-semibold', step.state === 'waits' && 'text-muted')}>
              {step.title}
              <span className="sr-only"> ({words[step.state]})</span>
            </h2>
            {step.note && <div className="text-sm text-muted">{step.note}</div>}
            {step.content && <div className="mt-3">{step.content}</div>}
          </div>
        </li>
      ))}
    </ol>
  )
}

const markers = {
  done: 'bg-good-soft text-good ring-good/40',
  current: 'bg-accent text-on-accent ring-accent',
  waits: 'bg-surface text-faint ring-line-strong',
  failed: 'bg-bad-soft text-bad ring-bad/40',
}

function Marker({ state, number }: { readonly state: Step['state']; readonly number: number }) {
  return (
    <span
      aria-hidden="true"
      className={classes(
        'inline-flex size-6 shrink-0 items-center justify-center rounded-full text-xs font-semibold ring-1 ring-inset [&_svg]:size-3.5',
        markers[state],
      )}
    >
      {state === 'done' ? <Check /> : state === 'failed' ? <CircleAlert /> : number}
    </span>
  )
}
