import { useRouter } from '@tanstack/react-router'
import type { Today } from '../../api/organization-health.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Card, Section } from '../../components/layout/Section.tsx'
import { type Step, Stepper } from '../../components/layout/Stepper.tsx'
import { CodeBlock } from '../../components/text/CodeBlock.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { curlSnippet } from '../sent/curl-snippet.ts'
import { useSenderAddress } from '../sent/sender-address.ts'
import { stepStrings, todayStrings as strings } from './strings.ts'

type StepName = keyof Today['first_steps']

const order: readonly StepName[] = ['domain_ready', 'mailbox', 'key', 'first_in', 'first_out']
const screens: Readonly<Partial<Record<StepName, string>>> = {
  domain_ready: '/domains',
  mailbox: '/mailboxes',
  key: '/keys',
}

/** Are all steps behind the organization? */
export function areStepsDone(steps: Today['first_steps']): boolean {
  return order.every(name => steps[name])
}

/** The way to a first mail in and a first one out; each step ticks itself. */
export function FirstSteps({ steps }: { readonly steps: Today['first_steps'] }) {
  const current = order.find(name => !steps[name])
  return (
    <Section title={strings.steps} hint={strings.stepsHint}>
      <Card>
        <Stepper
          label={strings.steps}
          steps={order.map((name): Step => {
            const [title, note] = stepStrings[name]
            if (steps[name]) return { key: name, title, state: 'done' }
            const state = name === current ? 'current' : 'waits'
            const hasAction = name === 'first_out' || screens[name] !== undefined
            return { key: name, title, state, note, ...(hasAction && { content: <StepAction name={name} /> }) }
          })}
        />
      </Card>
    </Section>
  )
}

function StepAction({ name }: { readonly name: StepName }) {
  const { organization } = useOrganization()
  const router = useRouter()
  const { from } = useSenderAddress()
  const label = stepStrings[name][2]
  const screen = screens[name]
  if (name === 'first_out') return from && <CodeBlock label={strings.curl} code={curlSnippet(location.origin, from)} />
  if (screen === undefined || label === null) return null
  return (
    <Button size="small" onClick={() => router.history.push(`/app/${organization.id}${screen}`)}>
      {label}
    </Button>
  )
}
