import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import { openWorkerPool, WorkerError } from '../../base/concurrency/worker-pool.ts'
import { refuse } from '../../base/refusal.ts'
import { tooSlow } from './budget.ts'
import type { RenderResult, TemplateFault, TemplateSources } from './engine.ts'
import type { RenderTasks } from './render-worker.ts'

/**
 * Renders templates on a worker, so that no template blocks the event loop: one at a time, and of each owner one at a time,
 * so that one owner's costly templates make the others wait for one of them and no more.
 */
export interface TemplateRenderer {
  /** What is wrong with a template, as far as that shows without variables. @throws Refusal unavailable */
  findFault(owner: string, sources: TemplateSources): Promise<TemplateFault | undefined>
  /** Renders the template with variables, which are JSON. @throws Refusal unavailable */
  render(owner: string, sources: TemplateSources, variables: object): Promise<RenderResult>
  /** Ends the worker; what is in flight fails as if it had taken too long. */
  close(): void
}

const idleMs = 60_000

/** @param timeoutMs for one template; what takes this long escaped every limit of the engine */
export function openTemplateRenderer({ timeoutMs = 3000 }: { readonly timeoutMs?: number } = {}): TemplateRenderer {
  const entry = new URL('./render-worker.ts', import.meta.url)
  const pool = openWorkerPool<RenderTasks>({ entry, taskTimeoutMs: timeoutMs, idleMs })
  const inOwnersTurn = oneAtATimePerOwner()
  return {
    findFault: (owner, sources) => inOwnersTurn(owner, () => pool.run('check', sources)).catch(error => faultOf(error)),
    render: (owner, sources, variables) =>
      inOwnersTurn(owner, () => pool.run('render', { sources, variables })).catch(error => ({
        kind: 'faulty',
        fault: faultOf(error),
      })),
    close: () => pool.close(),
  }
}

/** @throws what is no fault of the template */
function faultOf(error: unknown): TemplateFault {
  if (!(error instanceof WorkerError)) throw error
  switch (error.reason) {
    case 'timeout':
    case 'closed':
      return { part: null, what: tooSlow }
    case 'queue_full':
      throw refuse('unavailable', { message: 'Too many templates are being rendered.', retryAfterSeconds: 5 })
    case 'crashed':
      throw new Error(`the template worker died: ${error.message}`, { cause: error })
    default:
      return error.reason satisfies never
  }
}

function oneAtATimePerOwner() {
  const queues = new Map<string, { readonly run: ReturnType<typeof limitConcurrency>; users: number }>()
  return async <Result>(owner: string, work: () => Promise<Result>): Promise<Result> => {
    const queue = queues.get(owner) ?? { run: limitConcurrency(1), users: 0 }
    queues.set(owner, queue)
    queue.users++
    try {
      return await queue.run(work)
    } finally {
      if (--queue.users === 0) queues.delete(owner)
    }
  }
}
