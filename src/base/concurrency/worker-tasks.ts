import { constants, getPriority, setPriority } from 'node:os'

// The worker's side of worker-pool.ts.

/** What a worker does, by name: each task gets its input and, to ask the thread that started it, `call`. */
export type WorkerTasks = Readonly<Record<string, (input: never, call: never) => unknown>>

/** What a worker is sent. */
export type ToWorker =
  | { readonly kind: 'task'; readonly id: number; readonly name: string; readonly input: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly callId: number; readonly answer: unknown }
  | { readonly kind: 'no-answer'; readonly id: number; readonly callId: number; readonly message: string }

/** What a worker sends. `id` is the task's. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly error: Error }
  | { readonly kind: 'call'; readonly id: number; readonly callId: number; readonly question: unknown }

declare const self: {
  postMessage(message: FromWorker): void
  onmessage: ((event: { readonly data: ToWorker }) => void) | null
}

interface PendingCall {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

/** Does these tasks for the pool that started this worker; to be called once, at the end of the worker's entry file. */
export function serveTasks(tasks: WorkerTasks): void {
  const calls = new Map<number, PendingCall>()
  let lastCall = 0

  function run(id: number, name: string, input: unknown): unknown {
    const task = tasks[name] as ((input: unknown, call: (question: unknown) => Promise<unknown>) => unknown) | undefined
    if (!task) throw new Error(`this worker has no task ${name}`)
    return task(input, question => {
      const callId = ++lastCall
      return new Promise((resolve, reject) => {
        calls.set(callId, { resolve, reject })
        self.postMessage({ kind: 'call', id, callId, question })
      })
    })
  }

  function takeCall(callId: number): PendingCall | undefined {
    const call = calls.get(callId)
    calls.delete(callId)
    return call
  }

  self.onmessage = ({ data }) => {
    switch (data.kind) {
      case 'task':
        Promise.try(run, data.id, data.name, data.input)
          .then(result => self.postMessage({ kind: 'done', id: data.id, result }))
          .catch((error: unknown) =>
            self.postMessage({
              kind: 'failed',
              id: data.id,
              error: error instanceof Error ? error : new Error(String(error)),
            }),
          )
        return
      case 'answer':
        return takeCall(data.callId)?.resolve(data.answer)
      case 'no-answer':
        return takeCall(data.callId)?.reject(new Error(data.message))
      default:
        data satisfies never
    }
  }
  yieldToEventLoop()
  self.postMessage({ kind: 'ready' })
}

/** Added to the thread's nice value; the event loop and the other processes then have three times its share of a busy core. */
const addedNiceness = 5

/**
 * Lets the event loop run before this thread where both are ready: otherwise it waits for tasks of tens of milliseconds.
 * Linux takes 0 for the thread that calls alone, elsewhere it is the process. Needs no privilege.
 */
function yieldToEventLoop(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(getPriority(0) + addedNiceness, constants.priority.PRIORITY_LOW))
  } catch {
    // A sandbox may forbid it; then tasks run like all else.
  }
}
