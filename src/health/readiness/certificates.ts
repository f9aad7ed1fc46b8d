import { dayMs } from '../../base/clock.ts'
import type { CertificateState, Certificates } from '../../ports/certificates/port.ts'
import type { ReadinessPartState } from './readiness.ts'

const maxShown = 5

/**
 * The state of the certificates, first those that could not be renewed, then by expiry. An expired certificate for a name of
 * ours makes the instance unready. A failed renewal before that does not, nor does a certificate for a domain's policy host,
 * which depends on the DNS records of the domain's owner.
 */
export function certificateReadiness(
  certificates: Certificates,
  nowMs: number,
): { readonly certificates?: ReadinessPartState } {
  const states = certificates.states()
  if (states.length === 0) return {}
  const ready = !states.some(state => state.isOurs && state.notAfter !== null && state.notAfter.getTime() <= nowMs)
  const urgent = [...states].sort((a, b) => urgency(a) - urgency(b))
  const hidden = states.length - maxShown
  const shown = urgent.slice(0, maxShown).map(state => describeCertificate(state, nowMs))
  return { certificates: { ready, detail: [...shown, ...(hidden > 0 ? [`and ${hidden} more`] : [])].join('; ') } }
}

/** The lowest comes first. */
function urgency({ lastError, notAfter }: CertificateState): number {
  return (notAfter?.getTime() ?? 0) - (lastError === null ? 0 : Number.MAX_SAFE_INTEGER / 2)
}

function describeCertificate({ name, notAfter, lastError }: CertificateState, nowMs: number): string {
  const days = notAfter && Math.floor((notAfter.getTime() - nowMs) / dayMs)
  const left = days === null ? 'none yet' : days < 0 ? 'expired' : days === 1 ? '1 day left' : `${days} days left`
  return `${name}: ${left}${lastError === null ? '' : ` (${lastError})`}`
}
