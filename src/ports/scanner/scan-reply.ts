import type { ScanResult } from './port.ts'

/** What clamd's reply to INSTREAM says. Only `OK` by itself is clean: every error, doubt or silence is not. */
export function scanResultOf(reply: string): ScanResult {
  if (/^[^:]+: OK$/.test(reply)) return { kind: 'clean' }
  const signature = /: (.+) FOUND$/.exec(reply)?.[1]
  return signature === undefined ? unscanned(reply || closed) : foundResultOf([signature])
}

/** What the names say that clamd found. */
export function foundResultOf(names: readonly string[]): ScanResult {
  const signature = names.find(name => !name.startsWith('Heuristics.Limits.Exceeded'))
  if (signature !== undefined) return { kind: 'infected', signature }
  const [limit] = names
  return limit === undefined
    ? unscanned('clamd found something without a name')
    : { kind: 'unscanned', why: limit, isPermanent: true }
}

export function unscanned(why: string): ScanResult {
  return { kind: 'unscanned', why }
}

/** Why there is no result where there is no reply. */
export const closed = 'clamd closed the connection'
