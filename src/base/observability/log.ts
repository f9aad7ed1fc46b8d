import pino from 'pino'
import { formatLogLine } from './log-text.ts'

/** One line for each event, in the past tense, with fixed keys; never bodies, keys, subjects or addresses at `info`. */
export type Log = pino.Logger

/** Bytes that are buffered while the reader of the log is slow; past it lines are dropped, so that mail is not delayed. */
const maxBufferedBytes = 16 * 1024 * 1024

/** Lines are written together, once there are so many bytes or milliseconds after the first: a write costs more than a line. */
const buffering = { minLength: 4096, periodicFlush: 100 }

/** How lines are written: as JSON objects, or as text for people (log-text.ts). */
export type LogFormat = 'json' | 'text'

/** A pipe takes so many bytes in one piece, so that lines of several processes never mix. pipe(7), PIPE_BUF. */
const atomicBytes = 4096

/**
 * A log on standard output that never blocks. Control characters are escaped in both formats.
 * @param pid in each line, where several processes write to the same output
 */
export function openLog(level: string, format: LogFormat = 'json', pid?: number): Log {
  const output = pino.destination({
    ...{ dest: 1, sync: false, maxLength: maxBufferedBytes, ...buffering },
    ...(pid !== undefined && { minLength: atomicBytes / 2, maxWrite: atomicBytes }),
  })
  process.on('exit', () => {
    try {
      output.flushSync()
    } catch {
      // The reader of the log is gone.
    }
  })
  const destination = format === 'json' ? output : { write: (line: string) => void output.write(formatLogLine(line)) }
  return pino(
    { level, base: pid === undefined ? null : { pid }, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  )
}
