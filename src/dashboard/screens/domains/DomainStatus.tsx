import { Status } from '../../components/text/Status.tsx'
import { domainStrings as strings } from './strings.ts'
import type { Domain } from './types.ts'

interface DomainProps {
  readonly domain: Domain
}

/** Can mail be sent from it? */
export function SendingStatus({ domain }: DomainProps) {
  if (!domain.ownership_verified) return <Status tone="bad">{strings.ownershipLost}</Status>
  if (domain.ready_to_send) return <Status tone="good">{strings.ready}</Status>
  return domain.status === 'failed' || domain.provider_error !== undefined ? (
    <Status tone="bad">{strings.failed}</Status>
  ) : (
    <Status tone="warn">{strings.pending}</Status>
  )
}

/** Does its mail come here? */
export function ReceivingStatus({ domain: { receiving } }: DomainProps) {
  if (receiving.live) return <Status tone="good">{strings.live}</Status>
  const isBegun = receiving.next_step === 'mx' || receiving.identity.dns_records.length > 0
  return isBegun ? <Status tone="warn">{strings.pending}</Status> : <Status tone="off">{strings.notYet}</Status>
}
