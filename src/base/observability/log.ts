import pino from 'pino'
import { formatLogLine } from './log-text.ts'

/** One line an event, past tense, with fixed keys; never bodies, keys, subjects or addresses at `info`. */
export type Log = pino.Logger

/** What waits to be written, in bytes, when whoever reads the log is slow; past it lines are lost, and mail is not. */
const maxWaitingBytes = 16 * 1024 * 1024

/** Lines leave together, once they are so many bytes or so long after the first: each write by itself costs more than a line. */
const gathered = { minLength: 4096, periodicFlush: 100 }

/** How a line is written: a JSON object, or what a person reads (log-text.ts). */
export type LogFormat = 'json' | 'text'

/** Lines on standard output, never waited for; control characters are escaped, by JSON itself where it is JSON. */
export function openLog(level: string, format: LogFormat = 'json'): Log {
  const output = pino.destination({ dest: 1, sync: false, maxLength: maxWaitingBytes, ...gathered })
  process.on('exit', () => {
    try {
      output.flushSync()
    } catch {
      // Nobody reads the log any more.
    }
  })
  const written = format === 'json' ? output : { write: (line: string) => void output.write(formatLogLine(line)) }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, written)
}
