import type { CertificateState, Certificates } from '../../ports/certificates/port.ts'
import type { PartState } from './readiness.ts'

const mostShown = 5
const dayMs = 86_400_000

/**
 * How it stands with the certificates, those in trouble and those that expire first before the others. One of ours that has
 * expired makes the instance unready; what goes wrong before does not, nor does what a domain's owner has to see to.
 */
export function certificatesPart(certificates: Certificates, nowMs: number): { readonly certificates?: PartState } {
  const states = certificates.states()
  if (states.length === 0) return {}
  const ready = !states.some(each => each.isOurs && each.notAfter !== null && each.notAfter.getTime() <= nowMs)
  const urgent = [...states].sort((a, b) => urgency(a) - urgency(b))
  const more = states.length - mostShown
  const told = urgent.slice(0, mostShown).map(each => describe(each, nowMs))
  return { certificates: { ready, detail: [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ') } }
}

/** The least comes first. */
function urgency({ trouble, notAfter }: CertificateState): number {
  return (notAfter?.getTime() ?? 0) - (trouble === null ? 0 : Number.MAX_SAFE_INTEGER / 2)
}

function describe({ name, notAfter, trouble }: CertificateState, nowMs: number): string {
  const days = notAfter && Math.floor((notAfter.getTime() - nowMs) / dayMs)
  const left = days === null ? 'none yet' : days < 0 ? 'expired' : days === 1 ? '1 day left' : `${days} days left`
  return `${name}: ${left}${trouble === null ? '' : ` (${trouble})`}`
}
