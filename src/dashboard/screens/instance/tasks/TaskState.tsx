import type { ReactNode } from 'react'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Progress } from '../../../components/feedback/Progress.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { taskStrings as strings } from './strings.ts'
import type { OperatorTask } from './tasks.ts'

interface TaskStateProps {
  readonly task: OperatorTask | undefined
  /** What it does: "Verifying the backup". */
  readonly title: string
  /** Its result, once it is there. */
  readonly children?: (result: unknown) => ReactNode
}

/** How far a task has come, why it failed, or what came of it; nothing where there was none. */
export function TaskState({ task, title, children }: TaskStateProps) {
  if (!task) return null
  switch (task.state) {
    case 'running':
      return <RunningTask task={task} title={title} />
    case 'failed':
      return (
        <Notice tone="bad" title={`${title}: ${strings.failed}`}>
          <SafeText text={task.error} />
        </Notice>
      )
    case 'lost':
      return (
        <Notice tone="warn" title={`${title}: ${strings.lost}`}>
          {strings.lostHint}
        </Notice>
      )
    case 'done':
      return children?.(task.result) ?? null
    default:
      return task.state satisfies never
  }
}

function RunningTask({ task: { progress, actor }, title }: { readonly task: OperatorTask; readonly title: string }) {
  const label = progress ? `${title}: ${strings.progress(progress.what, progress.count, progress.of)}` : title
  return (
    <div role="status" className="rounded-lg border border-line bg-surface p-4">
      <Progress label={label} value={progress?.of ? progress.count / progress.of : null} />
      <p className="mt-2 text-sm text-muted">
        {strings.running} {strings.startedBy(actor)}
      </p>
    </div>
  )
}
