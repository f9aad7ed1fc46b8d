import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { TaskState } from '../tasks/TaskState.tsx'
import { isAnyRunning, latestTask, useTasks } from '../tasks/tasks.ts'
import { storageStrings as strings } from './strings.ts'
import { Planned, type PlanResult, Removed, type RunResult } from './TaskResults.tsx'

/** Counts what retention would delete, and deletes it. */
export function RetentionTasks() {
  const queryClient = useQueryClient()
  const tasks = useTasks()
  const [isConfirming, setConfirming] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const reload = () => queryClient.invalidateQueries({ queryKey: ['tasks'] })
  const plan = async () => {
    setError(null)
    try {
      await answer(app.POST('/app/api/instance/storage/plan'))
    } catch (thrown) {
      setError(thrown)
    }
    await reload()
  }
  const isBusy = isAnyRunning(tasks)
  return (
    <Section
      title={strings.planned}
      actions={
        <>
          <Button isBusy={isBusy} onClick={() => void plan()}>
            {strings.plan}
          </Button>
          <Button isBusy={isBusy} onClick={() => setConfirming(true)}>
            {strings.run}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {error !== null && <Refusal error={error} />}
        <TaskState task={latestTask(tasks, 'retention_run')} title={strings.deleting}>
          {result => <Removed result={result as RunResult} />}
        </TaskState>
        <TaskState task={latestTask(tasks, 'retention_plan')} title={strings.planning}>
          {result => <Planned result={result as PlanResult} />}
        </TaskState>
        {tasks.length === 0 && (
          <Notice tone="info" title={strings.plan}>
            {strings.confirmRunHint}
          </Notice>
        )}
      </div>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={strings.confirmRun}
        action={strings.run}
        isDanger
        onConfirm={async () => {
          await answer(app.POST('/app/api/instance/storage/run'))
          await reload()
        }}
      >
        {strings.confirmRunHint}
      </ConfirmDialog>
    </Section>
  )
}
