import { type Clock, dayMs, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import type { DomainDeps } from '../deps.ts'
import { publishDomainRecords } from '../dns/publish.ts'
import { recordOwnerOf } from '../dns/record-owner.ts'
import { dkimRecord } from '../dns/records.ts'
import { deleteRecord, selectRecords, upsertRecord } from '../dns/table.ts'
import { updateNextCheck } from '../recheck/table.ts'
import { type DomainRow, lockDomain, updateDomain } from '../table.ts'
import { generatePrivateKey, openPrivateKey, rotationSelector, sealDkimKey } from './keys.ts'
import { type DkimKeyRow, deleteDkimKey, insertDkimKey, selectDkimKeys, updateDkimKeyState } from './table.ts'

/** How long a key stays published after it stopped signing: mail that it signed may still be under way, or verified later. */
const keepRetiredMs = 7 * dayMs

/** The selector of the next key. `isNew`: this call generated it. */
export interface StartedRotation {
  readonly selector: string
  readonly isNew: boolean
}

/**
 * Generates the domain's next key and stores the record to publish. It starts to sign once its record is verified; until
 * then nothing changes. If there is a next key already, resolves to that one.
 * @throws Refusal `not_found`
 */
export async function startRotation(
  deps: { readonly db: Db; readonly clock: Clock; readonly secrets: Secrets },
  domain: DomainRow,
): Promise<StartedRotation> {
  const pending = findNextKey(await selectDkimKeys(deps.db, domain.id))
  if (pending) return { selector: pending.selector, isNew: false }
  const at = deps.clock.now()
  const privateKey = await generatePrivateKey()
  const selector = rotationSelector(at)
  const id = { domain_id: domain.id, selector, created_at: at }
  const key = sealDkimKey({ ...id, state: 'next', state_since: at }, privateKey, deps.secrets)
  return inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, domain.organization_id, domain.id)))
      throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
    const first = findNextKey(await selectDkimKeys(db, domain.id))
    if (first) return { selector: first.selector, isNew: false }
    await insertDkimKey(db, key)
    await upsertRecord(db, domain.id, dkimRecord(domain.domain, selector, privateKey, false))
    await updateNextCheck(db, domain.id, at)
    return { selector, isNew: true }
  })
}

function findNextKey(keys: readonly DkimKeyRow[]): DkimKeyRow | undefined {
  return keys.find(key => key.state === 'next')
}

function recordName({ selector }: DkimKeyRow, { domain }: Pick<DomainRow, 'domain'>): string {
  return `${selector}._domainkey.${domain}`
}

/** Publishes the record of the domain's next key if the DNS provider has a zone that holds the domain. */
export async function publishNextKey(deps: DomainDeps, domain: DomainRow): Promise<void> {
  const next = findNextKey(await selectDkimKeys(deps.db, domain.id))
  if (!next) return
  const name = recordName(next, domain)
  const attempt = await publishDomainRecords(deps, domain, row => row.name === name && row.status !== 'verified')
  if (attempt.kind === 'skipped') return
  await updateDomain(deps.db, domain.id, { provider_error: attempt.kind === 'failed' ? attempt.reason : null })
}

/** Starts to sign with the next key if its record is verified; the previous key retires and stays published for a week. */
export async function activateNextKey(deps: DomainDeps, domain: DomainRow): Promise<void> {
  if (!findNextKey(await selectDkimKeys(deps.db, domain.id))) return
  await inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, domain.organization_id, domain.id))) return
    const keys = await selectDkimKeys(db, domain.id)
    const next = findNextKey(keys)
    if (!next || !(await isRecordVerified(db, next, domain))) return
    const at = deps.clock.now()
    for (const key of keys.filter(key => key.state !== 'retiring')) {
      const isNext = key.selector === next.selector
      await updateDkimKeyState(db, key, isNext ? 'signing' : 'retiring', at)
      await upsertRecord(
        db,
        domain.id,
        dkimRecord(domain.domain, key.selector, openPrivateKey(key, deps.secrets), isNext),
      )
    }
  })
}

async function isRecordVerified(db: Db, key: DkimKeyRow, domain: DomainRow): Promise<boolean> {
  const name = recordName(key, domain)
  return (await selectRecords(db, [domain.id])).some(record => record.name === name && record.status === 'verified')
}

/**
 * Deletes the keys that retired long enough ago, and removes their records from the zone if Mailroom published them.
 * @throws DnsZoneError of the zone; the rest is deleted at the next recheck
 */
export async function deleteRetiredKeys(deps: DomainDeps, domain: DomainRow): Promise<void> {
  const before = plusMs(deps.clock.now(), -keepRetiredMs)
  for (const key of await selectDkimKeys(deps.db, domain.id)) {
    if (key.state !== 'retiring' || (key.state_since ?? key.created_at) > before) continue
    const name = recordName(key, domain)
    await unpublish(deps, domain, name)
    await inTransaction(deps.db, async db => {
      await deleteDkimKey(db, key)
      await deleteRecord(db, domain.id, 'dkim', name)
    })
  }
}

async function unpublish({ dnsProvider }: DomainDeps, { id, domain }: DomainRow, name: string): Promise<void> {
  const zone = await dnsProvider?.findZone(domain)
  if (!zone) return
  for (const record of await zone.recordsAt(name)) {
    const owner = recordOwnerOf(record)
    if (owner.kind === 'mailroom' && owner.domainId === id) await zone.remove(record.id)
  }
}

/** Starts a rotation if the signing key is older than `rotateDays` days; 0: never. */
export async function startRotationIfDue(deps: DomainDeps, domain: DomainRow, rotateDays: number): Promise<void> {
  if (rotateDays === 0 || domain.status !== 'verified') return
  const signing = (await selectDkimKeys(deps.db, domain.id)).filter(key => key.state === 'signing')
  if (signing.length > 0 && signing.every(key => isOld(key, plusMs(deps.clock.now(), -rotateDays * dayMs))))
    await startRotation(deps, domain)
}

function isOld({ created_at, state_since }: DkimKeyRow, before: Instant): boolean {
  return (state_since ?? created_at) < before
}
