import { dayMs } from '../../base/clock.ts'
import type { CertificateState, Certificates } from '../../ports/certificates/port.ts'
import type { ReadinessPartState } from './readiness.ts'

const maxShown = 5

/**
 * How it stands with the certificates, those in trouble and those that expire first before the others. One of ours that has
 * expired makes the instance unready; what goes wrong before does not, nor does what a domain's owner has to see to.
 */
export function certificateReadiness(
  certificates: Certificates,
  nowMs: number,
): { readonly certificates?: ReadinessPartState } {
  const states = certificates.states()
  if (states.length === 0) return {}
  const ready = !states.some(state => state.isOurs && state.notAfter !== null && state.notAfter.getTime() <= nowMs)
  const urgent = [...states].sort((a, b) => urgency(a) - urgency(b))
  const more = states.length - maxShown
  const told = urgent.slice(0, maxShown).map(certificateState => describeCertificate(certificateState, nowMs))
  return { certificates: { ready, detail: [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ') } }
}

/** The least comes first. */
function urgency({ lastError, notAfter }: CertificateState): number {
  return (notAfter?.getTime() ?? 0) - (lastError === null ? 0 : Number.MAX_SAFE_INTEGER / 2)
}

function describeCertificate({ name, notAfter, lastError }: CertificateState, nowMs: number): string {
  const days = notAfter && Math.floor((notAfter.getTime() - nowMs) / dayMs)
  const left = days === null ? 'none yet' : days < 0 ? 'expired' : days === 1 ? '1 day left' : `${days} days left`
  return `${name}: ${left}${lastError === null ? '' : ` (${lastError})`}`
}
