import { gauge } from '../../base/observability/metrics.ts'
import type { Certificates } from './port.ts'

const expiry = gauge(
  'mailroom_certificate_expiry_timestamp_seconds',
  'When each certificate that is shown expires, in seconds since 1970.',
  ['name'],
)

/** Several sources as one; what an earlier one has goes first. */
export function mergeCertificates(sources: readonly Certificates[]): Certificates {
  const current = () => sources.flatMap(source => source.current())
  const states = () => sources.flatMap(source => source.states())
  const note = () => {
    expiry.reset()
    for (const { name, notAfter } of states()) if (notAfter) expiry.set({ name }, notAfter.getTime() / 1000)
  }
  const onChange: Certificates['onChange'] = tell => {
    for (const source of sources) source.onChange(tell)
  }
  note()
  onChange(note)
  return {
    current,
    states,
    onChange,
    stop: async () => {
      await Promise.all(sources.map(source => source.stop()))
    },
  }
}
