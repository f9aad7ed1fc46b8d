import { inTurn } from '../../base/concurrency/semaphore.ts'
import type { MessageFacts } from '../../mail/message.ts'
import { type ParseLimits, parseLimits } from '../../mail/mime-parser.ts'
import type { FromThread, TextTask, ToThread } from './worker.ts'
import { type TextWork, type TextWorkName, textWork } from './worker-tasks.ts'

/** Works on texts without holding up the event loop: short ones here and now, long ones on a thread, one at a time. */
export interface TextWorker {
  /** What the work gives; null where it took too long or failed. */
  run<Name extends TextWorkName>(
    name: Name,
    ...given: Parameters<TextWork[Name]>
  ): Promise<ReturnType<TextWork[Name]> | null>
  /**
   * Takes a message apart on the thread, whatever its size; null where that took too long or failed. Its pieces are asked
   * for one by one. Rejects when they cannot be had.
   */
  outline(pieces: AsyncIterable<Uint8Array>, limits?: ParseLimits): Promise<MessageFacts | null>
  /** Ends the thread; what is under way gives null. */
  close(): void
}

/** A thread that has had nothing to do for so long is ended: only that gives back what its heap has grown to. */
const longestIdleMs = 2000

/** Texts of so many characters take some ten milliseconds at most, whatever they hold. */
const maxLightCharacters = 8 * 1024

/** The thread is started when it is first needed, and again when it was ended. `timeoutMs`: for one text. */
export function openTextWorker({ timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {}): TextWorker {
  const turn = inTurn(1)
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

  function ask(task: TextTask, pieces?: AsyncIterator<Uint8Array>): Promise<string | null | MessageFacts> {
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
      type Result = ReturnType<TextWork[typeof name]> | null
      const work = textWork[name] as (...given: readonly string[]) => Result
      const characters = given.reduce((sum, each) => sum + each.length, 0)
      if (characters <= maxLightCharacters) return work(...given)
      return (await turn(() => ask({ kind: 'text', name, given }))) as Result
    },
    async outline(pieces, limits = parseLimits) {
      const source = pieces[Symbol.asyncIterator]()
      const facts = (await turn(() => ask({ kind: 'outline', limits }, source))) as MessageFacts | null
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
