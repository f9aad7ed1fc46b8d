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

/** A log on standard output that never blocks. Control characters are escaped in both formats. */
export function openLog(level: string, format: LogFormat = 'json'): Log {
  const output = pino.destination({ dest: 1, sync: false, maxLength: maxBufferedBytes, ...buffering })
  process.on('exit', () => {
    try {
      output.flushSync()
    } catch {
      // The reader of the log is gone.
    }
  })
  const destination = format === 'json' ? output : { write: (line: string) => void output.write(formatLogLine(line)) }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
