import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import type { RenderResult, TemplateFault, TemplateSources } from './engine.ts'
import type { RenderTask, RenderWorkerMessage } from './render-worker.ts'

/**
 * Renders templates on a thread of its own, so that no template holds up the event loop: one at a time, and of each owner
 * one at a time, so that one owner's costly templates cost the others a turn each and no more.
 */
export interface TemplateRenderer {
  /** What is wrong with a template, as far as that can be told without variables. */
  findFault(owner: string, sources: TemplateSources): Promise<TemplateFault | undefined>
  /** Makes the parts from the template and variables, which are JSON. */
  render(owner: string, sources: TemplateSources, variables: object): Promise<RenderResult>
  /** Ends the thread; what is under way is told that it took too long. */
  close(): void
}

interface RenderThread {
  readonly worker: Worker
  readonly ready: Promise<void>
  /** Who waits for the thread's next word. */
  hear: (message: RenderWorkerMessage) => void
  /** The thread died. */
  fail: (error: unknown) => void
}

type RenderReply = Exclude<RenderWorkerMessage, { readonly kind: 'ready' }>

/**
 * The thread is started when it is first needed, and again after it was ended.
 * @param timeoutMs for one template; what takes this long escaped every count of the engine
 */
export function openTemplateRenderer({ timeoutMs = 3000 }: { readonly timeoutMs?: number } = {}): TemplateRenderer {
  const turn = limitConcurrency(1)
  const ownTurn = turnsByOwner()
  let thread: RenderThread | undefined
  let giveUp: (() => void) | undefined
  let isClosed = false

  function end(ended: RenderThread): void {
    ended.worker.terminate()
    if (thread === ended) thread = undefined
  }

  async function ask(task: RenderTask): Promise<RenderReply> {
    if (isClosed) return tooLong
    thread ??= start()
    const asked = thread
    try {
      await asked.ready
    } catch (error) {
      end(asked)
      throw error
    }
    const { promise, resolve, reject } = Promise.withResolvers<RenderReply>()
    giveUp = () => {
      end(asked)
      resolve(tooLong)
    }
    const timer = setTimeout(giveUp, timeoutMs)
    asked.hear = message => message.kind !== 'ready' && resolve(message)
    asked.fail = error => {
      end(asked)
      reject(error)
    }
    asked.worker.postMessage(task)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      giveUp = undefined
    }
  }

  const askInTurn = (owner: string, task: RenderTask) => ownTurn(owner, () => turn(() => ask(task)))

  return {
    async findFault(owner, sources) {
      const done = await askInTurn(owner, { kind: 'check', sources })
      return done.kind === 'checked' ? done.fault : done.kind === 'faulty' ? done.fault : undefined
    },
    async render(owner, sources, variables) {
      const done = await askInTurn(owner, { kind: 'render', sources, variables })
      if (done.kind === 'checked') throw new Error('the thread answered another question')
      return done
    },
    close() {
      isClosed = true
      giveUp?.()
      const last = thread
      if (!last) return
      last.fail(new Error('rendering was closed'))
      end(last)
    },
  }
}

const tooLong: RenderReply = { kind: 'faulty', fault: { part: null, what: 'it takes longer than a template may' } }

function start(): RenderThread {
  const worker = new Worker(new URL('./render-worker.ts', import.meta.url).href, { ref: false, smol: true })
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  const thread: RenderThread = { worker, ready, hear: () => resolve(), fail: reject }
  worker.onmessage = ({ data }: { readonly data: RenderWorkerMessage }) => thread.hear(data)
  worker.onerror = event => {
    event.preventDefault()
    thread.fail(new Error(`the thread that renders templates died: ${event.message}`))
  }
  return thread
}

/** Does each owner's work in its turn. */
function turnsByOwner() {
  const turns = new Map<string, { readonly turn: ReturnType<typeof limitConcurrency>; users: number }>()
  return async <Result>(owner: string, work: () => Promise<Result>): Promise<Result> => {
    const own = turns.get(owner) ?? { turn: limitConcurrency(1), users: 0 }
    turns.set(owner, own)
    own.users++
    try {
      return await own.turn(work)
    } finally {
      if (--own.users === 0) turns.delete(owner)
    }
  }
}
