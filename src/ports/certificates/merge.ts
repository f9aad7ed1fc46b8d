import { gauge } from '../../base/observability/metrics.ts'
import type { Certificates } from './port.ts'

const expiry = gauge(
  'mailroom_certificate_expiry_timestamp_seconds',
  'Expiry time of each certificate in use, in seconds since 1970.',
  ['name'],
  { ofProcesses: 'max' },
)

/** Several sources as one; the certificates of earlier sources come first. */
export function mergeCertificates(sources: readonly Certificates[]): Certificates {
  const current = () => sources.flatMap(source => source.current())
  const states = () => sources.flatMap(source => source.states())
  const recordExpiry = () => {
    expiry.reset()
    for (const { name, notAfter } of states()) if (notAfter) expiry.set({ name }, notAfter.getTime() / 1000)
  }
  const onChange: Certificates['onChange'] = listener => {
    for (const source of sources) source.onChange(listener)
  }
  recordExpiry()
  onChange(recordExpiry)
  return {
    current,
    states,
    onChange,
    stop: async () => {
      await Promise.all(sources.map(source => source.stop()))
    },
  }
}
