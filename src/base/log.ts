import pino from 'pino'

/** One line an event, past tense, with fixed keys; never bodies, keys, subjects or addresses at `info`. */
export type Log = pino.Logger

/** JSON lines on standard output; control characters are escaped by JSON itself. */
export function openLog(level: string): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 1, sync: true }),
  )
}
