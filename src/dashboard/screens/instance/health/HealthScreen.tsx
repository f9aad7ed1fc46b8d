import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { TaskState } from '../tasks/TaskState.tsx'
import { isAnyRunning, latestTask, useTasks } from '../tasks/tasks.ts'
import { Findings } from './Findings.tsx'
import { Parts } from './Parts.tsx'
import { Processes } from './Processes.tsx'
import { healthStrings as strings } from './strings.ts'

const reloadMs = 15_000

/** `/app/instance`. */
export function HealthScreen() {
  const queryClient = useQueryClient()
  const tasks = useTasks()
  const task = latestTask(tasks, 'doctor')
  const [refusal, setRefusal] = useState<unknown>(null)
  const { data, error } = useQuery({
    // The findings are new once the task has ended.
    queryKey: ['instance', 'health', task?.state === 'running' ? null : task?.id],
    queryFn: () => answer(app.GET('/app/api/instance/health')),
    refetchInterval: reloadMs,
    placeholderData: previous => previous,
  })
  const run = async (full: boolean) => {
    setRefusal(null)
    try {
      await answer(app.POST('/app/api/instance/health/doctor', { body: { full } }))
    } catch (thrown) {
      setRefusal(thrown)
    }
    await queryClient.invalidateQueries({ queryKey: ['tasks'] })
  }
  const isBusy = isAnyRunning(tasks)
  return (
    <>
      <PageHeader
        title={strings.title}
        actions={
          <>
            <Button isBusy={isBusy} onClick={() => void run(false)}>
              {strings.quick}
            </Button>
            <Button kind="primary" isBusy={isBusy} onClick={() => void run(true)}>
              {strings.full}
            </Button>
          </>
        }
      >
        {data && strings.hint(data.version)}
      </PageHeader>
      <div className="mb-6 flex flex-col gap-3 empty:hidden">
        {error && <Refusal error={error} />}
        {refusal !== null && <Refusal error={refusal} />}
        <TaskState task={task} title={strings.running} />
      </div>
      {!data && !error && <SkeletonRows />}
      {data && (
        <>
          <Findings run={data.doctor} />
          <Parts parts={data.parts} />
          <Processes processes={data.processes} version={data.version} />
        </>
      )}
    </>
  )
}
