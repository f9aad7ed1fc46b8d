import type { Tone } from '../../components/text/Status.tsx'

/** What an HTTP status means to the reader. */
export function toneOf(status: number): Tone {
  if (status < 400) return 'good'
  return status < 500 ? 'warn' : 'bad'
}
