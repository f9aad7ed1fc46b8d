import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import type { ProviderIdentities } from '../../ports/provider/port.ts'
import type { DomainDeps } from '../deps.ts'
import { publishDomainRecords } from '../dns/publish.ts'
import { ensureSenderSetup, isEnrolled, isProviderKey } from '../enrolment.ts'
import type { DomainRecordRow, DomainRow } from '../table.ts'
import { updateNextCheckToNow, updateUnenrolledToPending } from './provider-switch-table.ts'

const atOnce = 5000

/**
 * Before anything is served: where the provider takes mail of the domains that it knows and of no others, those that are not
 * enrolled with it, since another one delivered before, are not ready to send. They, and those that a provider knows which
 * delivers no more, are looked at first, which sets them up for the one that delivers now. Done again it changes nothing.
 */
export async function suspendUnenrolledDomains(deps: {
  readonly db: Db
  readonly clock: Clock
  readonly identities: ProviderIdentities | undefined
  readonly log: Log
}): Promise<void> {
  const { db, clock, identities, log } = deps
  if (identities) {
    const why = `The domain is not enrolled with ${identities.name} yet. It is done soon, or at once by the provision operation.`
    const count = await untilFewer(() => updateUnenrolledToPending(db, identities.location, { why, most: atOnce }))
    if (count > 0) log.warn({ provider: identities.location, count }, 'domains wait to be enrolled with the provider')
  }
  const now = clock.now()
  await untilFewer(() => updateNextCheckToNow(db, identities?.location ?? null, { now, most: atOnce }))
}

async function untilFewer(batch: () => Promise<number>): Promise<number> {
  let all = 0
  for (let count = atOnce; count === atOnce; all += count) count = await batch()
  return all
}

/** Sets a domain up for the provider that delivers, where it was for another, and publishes what that takes where we can. */
export async function moveToCurrentProvider(
  deps: DomainDeps & { readonly log: Log },
  domain: DomainRow,
): Promise<void> {
  if (isEnrolled(deps, domain) || !(await ensureSenderSetup(deps, domain))) return
  deps.log.info({ domain_id: domain.id, from: domain.enrolled_with }, 'set a domain up for another provider')
  await publishDomainRecords(deps, domain, isOfProvider)
}

/** What depends on who delivers; what is seen already is not published once more. */
function isOfProvider(record: DomainRecordRow): boolean {
  const { purpose, status } = record
  return status !== 'verified' && (isProviderKey(record) || purpose === 'return_path' || purpose === 'spf')
}
