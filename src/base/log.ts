import pino from 'pino'

/** One line an event, past tense, with fixed keys; never bodies, keys, subjects or addresses at `info`. */
export type Log = pino.Logger

/** What waits to be written, in bytes, when whoever reads the log is slow; past it lines are lost, and mail is not. */
const maxWaitingBytes = 16 * 1024 * 1024

/** JSON lines on standard output, never waited for; control characters are escaped by JSON itself. */
export function openLog(level: string): Log {
  const output = pino.destination({ dest: 1, sync: false, maxLength: maxWaitingBytes })
  process.on('exit', () => {
    try {
      output.flushSync()
    } catch {
      // Nobody reads the log any more.
    }
  })
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, output)
}
