import type { AttachmentSummary } from '../../mail/message.ts'
import type { Authenticator } from '../../ports/authenticator/port.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import { type FilingSummary, isLarge, type Parse, parseForFiling, parseHeaderForFiling } from '../parse.ts'
import type { FromWorker, Results, Task, ToWorker } from './worker.ts'

/** Checking and taking apart large messages, away from the event loop. */
export interface ParsePool {
  readonly authenticator: Authenticator
  /** As {@link Parse}: what makes a worker fail is filed with what its header tells. */
  readonly parse: Parse
  close(): void
}

export interface ParsePoolOptions {
  readonly resolver: Resolver
  readonly hostname: string
  /** How long all DNS questions about one message may take, in milliseconds. */
  readonly messageTimeoutMs: number
  /** Threads; each is started when it is first needed. */
  readonly count: number
  /** How long one task may take before its thread is ended, in milliseconds; default 100 s. */
  readonly taskTimeoutMs?: number
}

/** The worker died, or was ended because it took too long; its other tasks fail with it. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError'
}

/** How many tasks one worker holds: one waits for DNS while another computes. */
const tasksPerWorker = 2
const longestTaskMs = 100_000
/** A thread that has had nothing to do for so long is ended: only that gives back what its heap has grown to. */
const longestIdleMs = 2000

interface Waiting {
  readonly task: Task
  readonly resolve: (result: Results[Task['kind']]) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly tasks: Map<number, Waiting & { readonly timer: Timer }>
  idle: Timer | undefined
}

/** Threads for large messages: a few, started when needed, started again when they die. Tasks wait in the order they came. */
export function openParsePool(options: ParsePoolOptions): ParsePool {
  const threads = new Set<Thread>()
  const queue: Waiting[] = []
  let lastTask = 0
  let isClosed = false

  function start(): Thread {
    const worker = new Worker(new URL('./worker.ts', import.meta.url).href, { ref: false, smol: true })
    const thread: Thread = { worker, tasks: new Map(), idle: undefined }
    threads.add(thread)
    worker.onmessage = event => hear(thread, event.data as FromWorker)
    worker.onerror = event => {
      event.preventDefault()
      end(thread, new WorkerError(event.message))
    }
    worker.addEventListener('close', () => end(thread, new WorkerError('the worker ended')))
    const { hostname, messageTimeoutMs } = options
    tell(thread, { kind: 'start', hostname, messageTimeoutMs })
    return thread
  }

  function hear(thread: Thread, message: FromWorker): void {
    switch (message.kind) {
      case 'question':
        options.resolver
          .resolve(message.name, message.type)
          .then(answer => tell(thread, { kind: 'answer', id: message.id, answer }))
        return
      case 'done':
        take(thread, message.id)?.resolve(message.result)
        dispatch()
        return
      case 'failed':
        take(thread, message.id)?.reject(message.error)
        dispatch()
        return
      default:
        message satisfies never
    }
  }

  function take(thread: Thread, id: number): Waiting | undefined {
    const task = thread.tasks.get(id)
    thread.tasks.delete(id)
    clearTimeout(task?.timer)
    if (thread.tasks.size === 0) rest(thread)
    return task
  }

  function rest(thread: Thread): void {
    clearTimeout(thread.idle)
    if (threads.has(thread))
      thread.idle = setTimeout(() => end(thread, new WorkerError('the worker rested')), longestIdleMs)
  }

  function end(thread: Thread, failure: Error): void {
    if (!threads.delete(thread)) return
    clearTimeout(thread.idle)
    thread.worker.terminate()
    for (const [id] of [...thread.tasks]) take(thread, id)?.reject(failure)
    dispatch()
  }

  function tell(thread: Thread, message: ToWorker): void {
    if (threads.has(thread)) thread.worker.postMessage(message)
  }

  function dispatch(): void {
    while (queue.length > 0) {
      const thread = freeThread()
      const next = thread && queue.shift()
      if (!thread || !next) return
      const id = ++lastTask
      const timer = setTimeout(
        () => end(thread, new WorkerError('a task took too long')),
        options.taskTimeoutMs ?? longestTaskMs,
      )
      clearTimeout(thread.idle)
      thread.tasks.set(id, { ...next, timer })
      tell(thread, { kind: 'task', id, task: next.task })
    }
  }

  function freeThread(): Thread | undefined {
    const [least] = [...threads].sort((a, b) => a.tasks.size - b.tasks.size)
    if (least?.tasks.size === 0) return least
    if (threads.size < options.count) return start()
    return least && least.tasks.size < tasksPerWorker ? least : undefined
  }

  function run<Kind extends Task['kind']>(task: Task & { readonly kind: Kind }): Promise<Results[Kind]> {
    return new Promise((resolve, reject) => {
      if (isClosed) throw closed()
      queue.push({ task, resolve: result => resolve(result as Results[Kind]), reject })
      dispatch()
    })
  }

  return {
    authenticator: { authenticate: what => run({ kind: 'authenticate', what }) },
    async parse(content) {
      try {
        const outline = await run({ kind: 'outline', content })
        return { ...outline, attachments: outline.attachments.map(withBuffer) }
      } catch (error) {
        if (!(error instanceof WorkerError)) throw error
        return await parseHeaderForFiling(content, `it could not be taken apart: ${error.message}`)
      }
    },
    close() {
      isClosed = true
      for (const { reject } of queue.splice(0)) reject(closed())
      for (const thread of [...threads]) end(thread, closed())
    },
  }
}

function closed(): Error {
  return new Error('the workers were closed')
}

/** What crosses threads arrives as a plain Uint8Array. */
function withBuffer(attachment: AttachmentSummary): AttachmentSummary {
  const { buffer, byteOffset, byteLength } = attachment.sha256
  return { ...attachment, sha256: Buffer.from(buffer, byteOffset, byteLength) }
}

/** Small messages here and now, large ones on the workers. */
export function bySize(light: Authenticator, heavy: ParsePool): { authenticator: Authenticator; parse: Parse } {
  return {
    authenticator: {
      authenticate: what => (isLarge(what.content) ? heavy.authenticator : light).authenticate(what),
    },
    parse: (content): Promise<FilingSummary> => (isLarge(content) ? heavy.parse(content) : parseForFiling(content)),
  }
}
