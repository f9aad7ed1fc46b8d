import type { FromWorker, ToWorker, WorkerTasks } from './worker-tasks.ts'

export interface WorkerPoolOptions {
  /** The file that each worker runs; it calls `serveTasks` with what the pool may ask of it. */
  readonly entry: URL
  /** How long one task may take, in milliseconds, once its worker has started; then the worker is ended. */
  readonly taskTimeoutMs: number
  /** Does the time begin again whenever the task calls back? Default: no. */
  readonly restartTimeoutOnCall?: boolean
  /** How many workers there are at most; default 1. Each is started when it is first needed. */
  readonly maxWorkers?: number
  /** How many tasks one worker has in flight: one may compute while another waits for an answer. Default 1. */
  readonly tasksPerWorker?: number
  /** How many tasks may wait for a worker; default 1000. */
  readonly maxQueued?: number
  /**
   * A worker without a task for so many milliseconds is ended: only that gives back the memory that its heap has grown to.
   * Absent: it is kept.
   */
  readonly idleMs?: number
}

/** A few threads for tasks that would block the event loop. Tasks start in the order they came. */
export interface WorkerPool<Tasks extends WorkerTasks> {
  /**
   * Runs the task of this name with `input`. `answer` is what the task's `call` runs, in this thread. Input, result and what
   * passes between them are copied (structured clone): a Buffer arrives as a Uint8Array.
   * @throws WorkerError; else what the task or `answer` threw
   */
  run<Name extends keyof Tasks & string>(
    name: Name,
    input: InputOf<Tasks[Name]>,
    answer?: CallOf<Tasks[Name]>,
  ): Promise<ResultOf<Tasks[Name]>>
  /** Ends the workers. Tasks that wait or are in flight fail, and so do those that come later. */
  close(): void
}

type InputOf<Task> = Task extends (input: infer Input, ...rest: never[]) => unknown ? Input : never
type CallOf<Task> = Task extends (input: never, call: infer Call) => unknown ? Call : never
type ResultOf<Task> = Task extends (...given: never[]) => infer Result ? Awaited<Result> : never

/** The task did not end by itself. `crashed`: its worker died, of this task or of another that it had in flight. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError'
  readonly reason: 'timeout' | 'crashed' | 'queue_full' | 'closed'

  constructor(reason: WorkerError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

interface PendingTask {
  readonly name: string
  readonly input: unknown
  readonly answer: ((question: unknown) => Promise<unknown>) | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

interface TaskInFlight extends PendingTask {
  /** Undefined until the worker has started. */
  timer?: Timer
  /** What `answer` threw: the task fails with it, whatever it makes of that. */
  answerError?: { readonly error: unknown }
}

interface PoolWorker {
  readonly thread: Worker
  readonly tasks: Map<number, TaskInFlight>
  isReady: boolean
  /** Ends the worker: while it starts, when that takes too long; later, when it has been idle for long. */
  timer: Timer | undefined
}

const startTimeoutMs = 30_000
const defaultMaxQueued = 1000

/** Opens a pool. No worker runs yet, and none keeps the process alive. A worker that died is replaced for the next task. */
export function openWorkerPool<Tasks extends WorkerTasks>(options: WorkerPoolOptions): WorkerPool<Tasks> {
  const { taskTimeoutMs, idleMs, maxWorkers = 1, tasksPerWorker = 1, maxQueued = defaultMaxQueued } = options
  const workers = new Set<PoolWorker>()
  const queue: PendingTask[] = []
  let lastId = 0
  let isClosed = false

  function start(): PoolWorker {
    const thread = new Worker(options.entry.href, { ref: false, smol: true })
    const worker: PoolWorker = { thread, tasks: new Map(), isReady: false, timer: undefined }
    worker.timer = setTimeout(
      () => end(worker, new WorkerError('crashed', 'the worker did not start in time')),
      startTimeoutMs,
    )
    workers.add(worker)
    thread.onmessage = event => receive(worker, event.data as FromWorker)
    thread.onerror = event => {
      event.preventDefault()
      end(worker, new WorkerError('crashed', event.message))
    }
    thread.addEventListener('close', () => end(worker, new WorkerError('crashed', 'the worker ended')))
    return worker
  }

  function receive(worker: PoolWorker, message: FromWorker): void {
    if (!workers.has(worker)) return
    switch (message.kind) {
      case 'ready':
        worker.isReady = true
        clearTimeout(worker.timer)
        for (const task of worker.tasks.values()) startTimer(worker, task)
        endWhenIdle(worker)
        return
      case 'call':
        void answerCall(worker, message)
        return
      case 'done':
      case 'failed': {
        const task = settle(worker, message.id)
        if (task?.answerError) task.reject(task.answerError.error)
        else if (message.kind === 'done') task?.resolve(message.result)
        else task?.reject(message.error)
        dispatch()
        return
      }
      default:
        message satisfies never
    }
  }

  async function answerCall(worker: PoolWorker, call: FromWorker & { readonly kind: 'call' }): Promise<void> {
    const { id, callId, question } = call
    const task = worker.tasks.get(id)
    if (!task) return
    if (options.restartTimeoutOnCall) task.timer?.refresh()
    try {
      if (!task.answer) throw new Error(`the task ${task.name} called back, and nothing answers it`)
      const answer = await task.answer(question)
      send(worker, { kind: 'answer', id, callId, answer })
    } catch (error) {
      task.answerError ??= { error }
      send(worker, { kind: 'no-answer', id, callId, message: String(error) })
    }
  }

  function startTimer(worker: PoolWorker, task: TaskInFlight): void {
    task.timer = setTimeout(() => end(worker, new WorkerError('timeout', 'a task took too long')), taskTimeoutMs)
  }

  /** Takes a task off its worker. */
  function settle(worker: PoolWorker, id: number): TaskInFlight | undefined {
    const task = worker.tasks.get(id)
    worker.tasks.delete(id)
    clearTimeout(task?.timer)
    if (worker.isReady) endWhenIdle(worker)
    return task
  }

  function endWhenIdle(worker: PoolWorker): void {
    if (idleMs === undefined || worker.tasks.size > 0 || !workers.has(worker)) return
    clearTimeout(worker.timer)
    worker.timer = setTimeout(() => end(worker, new WorkerError('closed', 'the worker was idle')), idleMs)
  }

  function end(worker: PoolWorker, error: WorkerError): void {
    if (!workers.delete(worker)) return
    clearTimeout(worker.timer)
    worker.thread.terminate()
    for (const id of [...worker.tasks.keys()]) settle(worker, id)?.reject(error)
    dispatch()
  }

  function send(worker: PoolWorker, message: ToWorker): void {
    if (workers.has(worker)) worker.thread.postMessage(message)
  }

  function dispatch(): void {
    while (queue.length > 0) {
      const worker = freeWorker()
      const next = worker && queue.shift()
      if (!worker || !next) return
      const id = ++lastId
      const task: TaskInFlight = { ...next }
      worker.tasks.set(id, task)
      if (worker.isReady) {
        clearTimeout(worker.timer)
        startTimer(worker, task)
      }
      try {
        send(worker, { kind: 'task', id, name: next.name, input: next.input })
      } catch (error) {
        // What cannot be cloned.
        settle(worker, id)?.reject(error)
      }
    }
  }

  /** An idle worker, else a new one, else the one with the fewest tasks. */
  function freeWorker(): PoolWorker | undefined {
    const [least] = [...workers].sort((a, b) => a.tasks.size - b.tasks.size)
    if (least?.tasks.size === 0) return least
    if (workers.size < maxWorkers) return start()
    return least && least.tasks.size < tasksPerWorker ? least : undefined
  }

  return {
    run(name, input, answer) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      if (isClosed) reject(closedError())
      else {
        queue.push({ name, input, answer: answer as PendingTask['answer'], resolve, reject })
        dispatch()
        if (queue.length > maxQueued) queue.pop()?.reject(new WorkerError('queue_full', 'too many tasks wait'))
      }
      return promise as Promise<ResultOf<Tasks[typeof name]>>
    },
    close() {
      isClosed = true
      for (const task of queue.splice(0)) task.reject(closedError())
      for (const worker of [...workers]) end(worker, closedError())
    },
  }
}

function closedError(): WorkerError {
  return new WorkerError('closed', 'the workers were closed')
}
