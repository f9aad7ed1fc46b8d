import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import type { ProviderIdentities } from '../../ports/provider/port.ts'
import type { DomainsUse } from '../deps.ts'
import { isEnrolled, isProviderKey, publishRecords, renewSender } from '../enrolment.ts'
import type { DomainRow, RecordRow } from '../table.ts'
import { hastenDomains, suspendDomains } from './provider-switch-table.ts'

const atOnce = 5000

/**
 * Before anything is served: where the provider takes mail of the domains that it knows and of no others, those that are not
 * enrolled with it, since another one delivered before, are not ready to send. They, and those that a provider knows which
 * delivers no more, are looked at first, which sets them up for the one that delivers now. Done again it changes nothing.
 */
export async function noticeSwitch(use: {
  readonly db: Db
  readonly clock: Clock
  readonly identities: ProviderIdentities | undefined
  readonly log: Log
}): Promise<void> {
  const { db, clock, identities, log } = use
  if (identities) {
    const why = `The domain is not enrolled with ${identities.name} yet. It is done soon, or at once by the provision operation.`
    const count = await untilFewer(() => suspendDomains(db, identities.place, { why, most: atOnce }))
    if (count > 0) log.warn({ provider: identities.place, count }, 'domains wait to be enrolled with the provider')
  }
  const now = clock.now()
  await untilFewer(() => hastenDomains(db, identities?.place ?? null, { now, most: atOnce }))
}

async function untilFewer(batch: () => Promise<number>): Promise<number> {
  let all = 0
  for (let count = atOnce; count === atOnce; all += count) count = await batch()
  return all
}

/** Sets a domain up for the provider that delivers, where it was for another, and publishes what that takes where we can. */
export async function followSwitch(use: DomainsUse & { readonly log: Log }, domain: DomainRow): Promise<void> {
  if (isEnrolled(use, domain) || !(await renewSender(use, domain))) return
  use.log.info({ domain_id: domain.id, from: domain.enrolled_with }, 'set a domain up for another provider')
  await publishRecords(use, domain, isOfProvider)
}

/** What depends on who delivers; what is seen already is not published once more. */
function isOfProvider(record: RecordRow): boolean {
  const { purpose, status } = record
  return status !== 'verified' && (isProviderKey(record) || purpose === 'return_path' || purpose === 'spf')
}
