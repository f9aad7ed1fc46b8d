import { openWorkerPool } from '../../base/concurrency/worker-pool.ts'
import type { MessageSummary } from '../../mail/message.ts'
import { type ParseLimits, parseLimits } from '../../mail/mime-parser.ts'
import { type TextTaskName, type TextTasks, textTasks } from './text-tasks.ts'
import type { TextWorkerTasks } from './worker.ts'

/** Runs text tasks without blocking the event loop: short texts on this thread, long ones on a worker, one at a time. */
export interface TextWorker {
  /** The task's result; null when it took too long or failed. */
  run<Name extends TextTaskName>(
    name: Name,
    ...texts: Parameters<TextTasks[Name]>
  ): Promise<ReturnType<TextTasks[Name]> | null>
  /**
   * Parses a message on the worker, whatever its size, reading one chunk at a time; null when it took too long or failed.
   * @throws what reading `chunks` throws
   */
  readSummary(chunks: AsyncIterable<Uint8Array>, limits?: ParseLimits): Promise<MessageSummary | null>
  /** Ends the worker; what is in flight gives null. */
  close(): void
}

const idleMs = 2000
/** Texts of so many characters take some ten milliseconds at most, whatever they hold. */
const maxInlineCharacters = 8 * 1024
/** The same for HTML with style sheets. */
const maxInlineHtmlCharacters = 4 * 1024

/** @param timeoutMs for one text, or for one chunk of a message */
export function openTextWorker({ timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {}): TextWorker {
  const entry = new URL('./worker.ts', import.meta.url)
  const pool = openWorkerPool<TextWorkerTasks>({ entry, taskTimeoutMs: timeoutMs, restartTimeoutOnCall: true, idleMs })
  return {
    async run(name, ...texts) {
      type Result = ReturnType<TextTasks[typeof name]> | null
      const task = textTasks[name] as (...texts: readonly string[]) => Result
      const characters = texts.reduce((sum, text) => sum + text.length, 0)
      const sanitizes = name === 'sanitizeHtml' || name === 'sanitizeQuotedHtml'
      if (characters <= (sanitizes ? maxInlineHtmlCharacters : maxInlineCharacters)) return task(...texts)
      return (await pool.run('text', { name, texts }).catch(() => null)) as Result
    },
    async readSummary(chunks, limits = parseLimits) {
      const source = chunks[Symbol.asyncIterator]()
      let sourceError: { readonly error: unknown } | undefined
      const nextChunk = async () => {
        try {
          return (await source.next()).value ?? null
        } catch (error) {
          sourceError = { error }
          throw error
        }
      }
      const summary = await pool.run('summary', limits, nextChunk).catch(() => null)
      if (sourceError) throw sourceError.error
      await source.return?.()
      return summary
    },
    close: () => pool.close(),
  }
}
