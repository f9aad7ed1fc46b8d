import { type Clock, dayMs, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import type { DomainDeps } from '../deps.ts'
import { publishDomainRecords } from '../dns/publish.ts'
import { recordOwnerOf } from '../dns/record-owner.ts'
import { dkimRecord } from '../dns/records.ts'
import { updateNextCheck } from '../recheck/table.ts'
import { type DomainRow, deleteRecord, lockDomain, selectRecords, updateDomain, upsertRecord } from '../table.ts'
import { generatePrivateKey, openPrivateKey, rotationSelector, sealDkimKey } from './keys.ts'
import { type DkimKeyRow, deleteDkimKey, insertDkimKey, selectDkimKeys, updateDkimKeyState } from './table.ts'

/** How long a key stays published after it last signed: mail that it signed may still be on its way, or be checked later. */
const retireMs = 7 * dayMs

/** The key that is to follow, and whether it was made by this. */
export interface StartedRotation {
  readonly selector: string
  readonly isNew: boolean
}

/**
 * Makes the key that is to follow the one that signs, and names its record. It signs once DNS shows it; until then nothing
 * changes. Where one waits already, that one is it.
 * @throws Refusal `not_found`
 */
export async function startRotation(
  deps: { readonly db: Db; readonly clock: Clock; readonly secrets: Secrets },
  domain: DomainRow,
): Promise<StartedRotation> {
  const waiting = nextOf(await selectDkimKeys(deps.db, domain.id))
  if (waiting) return { selector: waiting.selector, isNew: false }
  const at = deps.clock.now()
  const privateKey = await generatePrivateKey()
  const selector = rotationSelector(at)
  const whose = { domain_id: domain.id, selector, created_at: at }
  const key = sealDkimKey({ ...whose, state: 'next', state_since: at }, privateKey, deps.secrets)
  return inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, domain.organization_id, domain.id)))
      throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
    const first = nextOf(await selectDkimKeys(db, domain.id))
    if (first) return { selector: first.selector, isNew: false }
    await insertDkimKey(db, key)
    await upsertRecord(db, domain.id, dkimRecord(domain.domain, selector, privateKey, false))
    await updateNextCheck(db, domain.id, at)
    return { selector, isNew: true }
  })
}

function nextOf(keys: readonly DkimKeyRow[]): DkimKeyRow | undefined {
  return keys.find(key => key.state === 'next')
}

function recordName({ selector }: DkimKeyRow, { domain }: Pick<DomainRow, 'domain'>): string {
  return `${selector}._domainkey.${domain}`
}

/** Publishes the record of a key that is to follow, where we have a zone that holds the domain. */
export async function publishNextKey(deps: DomainDeps, domain: DomainRow): Promise<void> {
  const next = nextOf(await selectDkimKeys(deps.db, domain.id))
  if (!next) return
  const name = recordName(next, domain)
  const attempt = await publishDomainRecords(deps, domain, row => row.name === name && row.status !== 'verified')
  if (attempt.kind === 'skipped') return
  await updateDomain(deps.db, domain.id, { provider_error: attempt.kind === 'failed' ? attempt.reason : null })
}

/** Signs with the key that is to follow once its record has been seen; the one before stays published for a while. */
export async function activateNextKey(deps: DomainDeps, domain: DomainRow): Promise<void> {
  if (!nextOf(await selectDkimKeys(deps.db, domain.id))) return
  await inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, domain.organization_id, domain.id))) return
    const keys = await selectDkimKeys(db, domain.id)
    const next = nextOf(keys)
    if (!next || !(await isSeen(db, next, domain))) return
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

async function isSeen(db: Db, key: DkimKeyRow, domain: DomainRow): Promise<boolean> {
  const name = recordName(key, domain)
  return (await selectRecords(db, [domain.id])).some(record => record.name === name && record.status === 'verified')
}

/**
 * Forgets the keys that have not signed for long enough, and takes away their records that Mailroom published.
 * @throws whatever the zone throws; what is left is taken up the next time
 */
export async function deleteRetiredKeys(deps: DomainDeps, domain: DomainRow): Promise<void> {
  const before = plusMs(deps.clock.now(), -retireMs)
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

async function unpublish({ zone }: DomainDeps, { id, domain }: DomainRow, name: string): Promise<void> {
  const held = await zone?.findZone(domain)
  if (!held) return
  for (const record of await held.recordsAt(name)) {
    const maker = recordOwnerOf(record)
    if (maker.kind === 'mailroom' && maker.domainId === id) await held.remove(record.id)
  }
}

/** Begins a rotation where the key that signs is older than so many days; 0: never. */
export async function startRotationIfDue(deps: DomainDeps, domain: DomainRow, rotateDays: number): Promise<void> {
  if (rotateDays === 0 || domain.status !== 'verified') return
  const signing = (await selectDkimKeys(deps.db, domain.id)).filter(dkimKey => dkimKey.state === 'signing')
  if (signing.length > 0 && signing.every(each => isOld(each, plusMs(deps.clock.now(), -rotateDays * dayMs))))
    await startRotation(deps, domain)
}

function isOld({ created_at, state_since }: DkimKeyRow, before: Instant): boolean {
  return (state_since ?? created_at) < before
}
