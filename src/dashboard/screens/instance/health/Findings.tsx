import type { components } from '../../../api/generated/app.ts'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status, type Tone } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { healthStrings as strings } from './strings.ts'

type Finding = components['schemas']['DoctorFinding']

interface FindingsProps {
  readonly run: components['schemas']['InstanceHealth']['doctor']
}

const tones: Readonly<Record<Finding['level'], Tone>> = {
  error: 'bad',
  warning: 'warn',
  note: 'info',
  ok: 'good',
  skipped: 'off',
}
const order = ['error', 'warning', 'note'] as const

/** What doctor found: first what is to be done, then, closed, what is well. */
export function Findings({ run }: FindingsProps) {
  if (!run) return <Section title={strings.findings}>{strings.notRun}</Section>
  const open = order.flatMap(level => run.findings.filter(finding => finding.level === level))
  const closed = run.findings.filter(finding => !open.includes(finding))
  return (
    <Section
      title={strings.findings}
      hint={
        <>
          {strings.foundAt} <Time at={run.at} />. {run.is_quick && strings.onlyQuick}
        </>
      }
    >
      {open.length === 0 && (
        <Notice tone="good" title={strings.allWell}>
          {strings.allWellHint(run.counts.ok)}
        </Notice>
      )}
      {open.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {open.map(finding => (
            <FindingRow key={finding.check} finding={finding} />
          ))}
        </ul>
      )}
      {closed.length > 0 && (
        <details className="mt-2">
          <summary className="w-fit rounded-sm text-sm text-muted hover:text-ink">
            {strings.passed(closed.length)}
          </summary>
          <ul className="mt-2 divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
            {closed.map(finding => (
              <FindingRow key={finding.check} finding={finding} />
            ))}
          </ul>
        </details>
      )}
    </Section>
  )
}

function FindingRow({ finding: { check, level, seen, do: todo } }: { readonly finding: Finding }) {
  return (
    <li className="grid gap-x-4 gap-y-1 px-3 py-2.5 text-sm sm:grid-cols-[6.5rem_11rem_1fr]">
      <div>
        <Status tone={tones[level]}>{strings.levels[level]}</Status>
      </div>
      <span className="font-mono text-sm break-words">{check}</span>
      <div className="min-w-0 break-words">
        <SafeText text={seen} />
        {todo && (
          <p className="mt-1 text-muted">
            <SafeText text={todo} />
          </p>
        )}
      </div>
    </li>
  )
}
