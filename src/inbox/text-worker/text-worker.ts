import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import type { MessageSummary } from '../../mail/message.ts'
import { type ParseLimits, parseLimits } from '../../mail/mime-parser.ts'
import type { FromThread, TextTask, ToThread } from './worker.ts'
import { type TextTaskName, type TextTasks, textTasks } from './worker-tasks.ts'

/** Works on texts without holding up the event loop: short ones here and now, long ones on a thread, one at a time. */
export interface TextWorker {
  /** What the work gives; null where it took too long or failed. */
  run<Name extends TextTaskName>(
    name: Name,
    ...given: Parameters<TextTasks[Name]>
  ): Promise<ReturnType<TextTasks[Name]> | null>
  /**
   * Takes a message apart on the thread, whatever its size; null where that took too long or failed. Its pieces are asked
   * for one by one. Rejects when they cannot be had.
   */
  readSummary(pieces: AsyncIterable<Uint8Array>, limits?: ParseLimits): Promise<MessageSummary | null>
  /** Ends the thread; what is under way gives null. */
  close(): void
}

/** A thread that has had nothing to do for so long is ended: only that gives back what its heap has grown to. */
const longestIdleMs = 2000

/** Texts of so many characters take some ten milliseconds at most, whatever they hold. */
const maxInlineCharacters = 8 * 1024

/** The thread is started when it is first needed, and again when it was ended. `timeoutMs`: for one text. */
export function openTextWorker({ timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {}): TextWorker {
  const turn = limitConcurrency(1)
  let thread: Worker | undefined
  let idle: Timer | undefined
  let isClosed = false
  let lastId = 0
  let giveUp: (() => void) | undefined

  function start(): Worker {
    return new Worker(new URL('./worker.ts', import.meta.url).href, { ref: false, smol: true })
  }

  function rest(): void {
    thread?.terminate()
    thread = undefined
  }

  function ask(task: TextTask, pieces?: AsyncIterator<Uint8Array>): Promise<string | null | MessageSummary> {
    if (isClosed) return Promise.resolve(null)
    clearTimeout(idle)
    thread ??= start()
    const asked = thread
    const id = ++lastId
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        asked.terminate()
        thread = undefined
        resolve(null)
      }
      const timer = setTimeout(end, timeoutMs)
      giveUp = end
      const tell = (message: ToThread) => asked.postMessage(message)
      asked.onmessage = async ({ data }: { readonly data: FromThread }) => {
        if (data.id !== id) return
        timer.refresh()
        if (data.kind === 'done') {
          clearTimeout(timer)
          idle = setTimeout(rest, longestIdleMs)
          return resolve(data.result)
        }
        try {
          const piece = await pieces?.next()
          if (thread === asked) tell({ id, kind: 'piece', bytes: piece?.value ?? null })
        } catch (error) {
          reject(error)
          end()
        }
      }
      asked.onerror = event => {
        event.preventDefault()
        end()
      }
      tell({ id, ...task })
    })
  }

  return {
    async run(name, ...given) {
      type Result = ReturnType<TextTasks[typeof name]> | null
      const work = textTasks[name] as (...given: readonly string[]) => Result
      const characters = given.reduce((sum, value) => sum + value.length, 0)
      if (characters <= maxInlineCharacters) return work(...given)
      return (await turn(() => ask({ kind: 'text', name, given }))) as Result
    },
    async readSummary(pieces, limits = parseLimits) {
      const source = pieces[Symbol.asyncIterator]()
      const facts = (await turn(() => ask({ kind: 'outline', limits }, source))) as MessageSummary | null
      await source.return?.()
      return facts
    },
    close() {
      isClosed = true
      clearTimeout(idle)
      giveUp?.()
      rest()
    },
  }
}
