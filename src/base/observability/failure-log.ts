import { minuteMs } from '../clock.ts'
import type { Log } from './log.ts'

/** Logs a failure that may last: its first occurrence at once, then one line a minute, then that it is over. */
export interface FailureLog {
  /** Something failed, with these fields beside the error; most calls of a series write no line. */
  failed(error: unknown, fields?: Readonly<Record<string, unknown>>): void
  /** It works; writes a line only where it failed before. */
  succeeded(): void
}

export interface FailureMessages {
  readonly failed: string
  readonly recovered: string
}

const repeatMs = minuteMs

/** `fields` are in every line. Lines have `failures`: how many times it has failed in a row. */
export function failureLog(
  log: Pick<Log, 'error' | 'info'>,
  fields: Readonly<Record<string, unknown>>,
  messages: FailureMessages,
  nowMs: () => number = () => performance.now(),
): FailureLog {
  let failures = 0
  let lastLineMs = 0
  return {
    failed(error, more) {
      failures++
      if (failures > 1 && nowMs() - lastLineMs < repeatMs) return
      lastLineMs = nowMs()
      log.error({ ...fields, ...more, failures, err: error }, messages.failed)
    },
    succeeded() {
      if (failures > 0) log.info({ ...fields, failures }, messages.recovered)
      failures = 0
    },
  }
}
