import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import type { ProviderIdentities } from '../../ports/provider/port.ts'
import type { DomainDeps } from '../deps.ts'
import { publishDomainRecords } from '../dns/publish.ts'
import type { DomainRecordRow } from '../dns/table.ts'
import { ensureSenderSetup, isEnrolled, isProviderKey } from '../enrolment.ts'
import type { DomainRow } from '../table.ts'
import { updateNextCheckToNow, updateUnenrolledToPending } from './provider-switch-table.ts'

const batchSize = 5000

/**
 * Runs before anything is served, in case the operator has switched the provider. If the new one needs enrolment, verified
 * domains that are not enrolled with it become `pending`. All domains enrolled elsewhere are due for a recheck now, which
 * moves them to the new provider. Repeating it changes nothing.
 */
export async function suspendUnenrolledDomains(deps: {
  readonly db: Db
  readonly clock: Clock
  readonly identities: ProviderIdentities | undefined
  readonly log: Log
}): Promise<void> {
  const { db, clock, identities, log } = deps
  if (identities) {
    const reason = `The domain is not enrolled with ${identities.name} yet. It will be soon, or at once with the provision operation.`
    const count = await repeatUntilDone(() =>
      updateUnenrolledToPending(db, identities.location, { reason, most: batchSize }),
    )
    if (count > 0)
      log.warn(
        { provider: identities.location, count },
        'suspended sending for domains that are not enrolled with the provider; enrolling them now',
      )
  }
  const now = clock.now()
  await repeatUntilDone(() => updateNextCheckToNow(db, identities?.location ?? null, { now, most: batchSize }))
}

async function repeatUntilDone(batch: () => Promise<number>): Promise<number> {
  let all = 0
  for (let count = batchSize; count === batchSize; all += count) count = await batch()
  return all
}

/** Moves a domain that is enrolled elsewhere to the current provider, and publishes the records that it needs if possible. */
export async function moveToCurrentProvider(
  deps: DomainDeps & { readonly log: Log },
  domain: DomainRow,
): Promise<void> {
  if (isEnrolled(deps, domain) || !(await ensureSenderSetup(deps, domain))) return
  deps.log.info({ domain_id: domain.id, from: domain.enrolled_with }, 'moved a domain to the current provider')
  await publishDomainRecords(deps, domain, dependsOnProvider)
}

/** Records that depend on the provider and are not verified yet. */
function dependsOnProvider(record: DomainRecordRow): boolean {
  const { purpose, status } = record
  return status !== 'verified' && (isProviderKey(record) || purpose === 'return_path' || purpose === 'spf')
}
