import { useQuery } from '@tanstack/react-query'
import { answer, app } from '../../../api/client.ts'
import type { components } from '../../../api/generated/app.ts'

/** Long work of operators, which goes on when the page is left. */
export type OperatorTask = components['schemas']['Task']

const runningMs = 1000
const idleMs = 15_000

/** The newest tasks; while one runs its progress is asked for each second. */
export function useTasks(): readonly OperatorTask[] {
  const { data } = useQuery({
    queryKey: ['tasks'],
    queryFn: () => answer(app.GET('/app/api/instance/tasks')),
    refetchInterval: query => (query.state.data?.data.some(({ state }) => state === 'running') ? runningMs : idleMs),
  })
  return data?.data ?? []
}

/** The newest task of this kind, on this subject where one is given; undefined: there was none. */
export function latestTask(
  tasks: readonly OperatorTask[],
  kind: OperatorTask['kind'],
  subject?: string,
): OperatorTask | undefined {
  return tasks.find(task => task.kind === kind && (subject === undefined || task.subject === subject))
}

/** Does any task run? Only one does at a time. */
export function isAnyRunning(tasks: readonly OperatorTask[]): boolean {
  return tasks.some(({ state }) => state === 'running')
}
