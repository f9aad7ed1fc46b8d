import { inTurn } from '../base/turns.ts'
import type { TextTask } from './text-thread.ts'
import { type TextWork, type TextWorkName, textWork } from './text-work.ts'

/** Works on texts without holding up the event loop: short ones here and now, long ones on a thread, one at a time. */
export interface TextWorker {
  /** What the work gives; null where it took too long or failed. */
  run<Name extends TextWorkName>(
    name: Name,
    ...given: Parameters<TextWork[Name]>
  ): Promise<ReturnType<TextWork[Name]> | null>
  /** Ends the thread; what is under way gives null. */
  close(): void
}

/** Texts of so many characters take a few milliseconds at most. */
const maxLightCharacters = 16 * 1024

/** The thread is started when it is first needed, and again when it was ended. `timeoutMs`: for one text. */
export function openTextWorker({ timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {}): TextWorker {
  const turn = inTurn(1)
  let thread: Worker | undefined
  let isClosed = false
  let giveUp: (() => void) | undefined

  function start(): Worker {
    return new Worker(new URL('./text-thread.ts', import.meta.url).href, { ref: false, smol: true })
  }

  function ask(task: TextTask): Promise<string | null> {
    if (isClosed) return Promise.resolve(null)
    thread ??= start()
    const asked = thread
    return new Promise(resolve => {
      const end = () => {
        clearTimeout(timer)
        asked.terminate()
        thread = undefined
        resolve(null)
      }
      const timer = setTimeout(end, timeoutMs)
      giveUp = end
      asked.onmessage = ({ data }) => {
        clearTimeout(timer)
        resolve(data as string | null)
      }
      asked.onerror = event => {
        event.preventDefault()
        end()
      }
      asked.postMessage(task)
    })
  }

  return {
    async run(name, ...given) {
      type Result = ReturnType<TextWork[typeof name]> | null
      const work = textWork[name] as (...given: readonly string[]) => Result
      if (given[0].length <= maxLightCharacters) return work(...given)
      return (await turn(() => ask({ name, given }))) as Result
    },
    close() {
      isClosed = true
      giveUp?.()
    },
  }
}
