import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'
import type { DomainsUse } from '../deps.ts'
import { makerOf } from '../dns/record-owner.ts'
import { dkimRecord } from '../dns/records.ts'
import { publishRecords } from '../enrolment.ts'
import { planCheck } from '../recheck/table.ts'
import { type DomainRow, dropRecord, keepRecord, lockedDomain, recordsOf, updateDomain } from '../table.ts'
import { laterSelector, newPrivateKey, openedKey, sealedKey } from './keys.ts'
import { type DkimKeyRow, deleteKey, insertKey, keysOf, moveKey } from './table.ts'

const dayMs = 24 * 3_600_000
/** How long a key stays published after it last signed: mail that it signed may still be on its way, or be checked later. */
const retireMs = 7 * dayMs

/** The key that is to follow, and whether it was made by this. */
export interface Begun {
  readonly selector: string
  readonly isNew: boolean
}

/**
 * Makes the key that is to follow the one that signs, and names its record. It signs once DNS shows it; until then nothing
 * changes. Where one waits already, that one is it.
 * @throws Refusal `not_found`
 */
export async function beginRotation(
  use: { readonly db: Db; readonly clock: Clock; readonly secrets: Secrets },
  domain: DomainRow,
): Promise<Begun> {
  const waiting = nextOf(await keysOf(use.db, domain.id))
  if (waiting) return { selector: waiting.selector, isNew: false }
  const at = use.clock.now()
  const privateKey = await newPrivateKey()
  const selector = laterSelector(at)
  const whose = { domain_id: domain.id, selector, created_at: at }
  const key = sealedKey({ ...whose, state: 'next', state_since: at }, privateKey, use.secrets)
  return inTransaction(use.db, async db => {
    if (!(await lockedDomain(db, domain.organization_id, domain.id)))
      throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
    const first = nextOf(await keysOf(db, domain.id))
    if (first) return { selector: first.selector, isNew: false }
    await insertKey(db, key)
    await keepRecord(db, domain.id, dkimRecord(domain.domain, selector, privateKey, false))
    await planCheck(db, domain.id, at)
    return { selector, isNew: true }
  })
}

function nextOf(keys: readonly DkimKeyRow[]): DkimKeyRow | undefined {
  return keys.find(each => each.state === 'next')
}

function recordName({ selector }: DkimKeyRow, { domain }: Pick<DomainRow, 'domain'>): string {
  return `${selector}._domainkey.${domain}`
}

/** Publishes the record of a key that is to follow, where we have a zone that holds the domain. */
export async function publishNext(use: DomainsUse, domain: DomainRow): Promise<void> {
  const next = nextOf(await keysOf(use.db, domain.id))
  if (!next) return
  const name = recordName(next, domain)
  const publishing = await publishRecords(use, domain, each => each.name === name && each.status !== 'verified')
  if (publishing.kind === 'skipped') return
  await updateDomain(use.db, domain.id, { provider_error: publishing.kind === 'failed' ? publishing.why : null })
}

/** Signs with the key that is to follow once its record has been seen; the one before stays published for a while. */
export async function switchToNext(use: DomainsUse, domain: DomainRow): Promise<void> {
  if (!nextOf(await keysOf(use.db, domain.id))) return
  await inTransaction(use.db, async db => {
    if (!(await lockedDomain(db, domain.organization_id, domain.id))) return
    const keys = await keysOf(db, domain.id)
    const next = nextOf(keys)
    if (!next || !(await isSeen(db, next, domain))) return
    const at = use.clock.now()
    for (const key of keys.filter(each => each.state !== 'retiring')) {
      const isNext = key.selector === next.selector
      await moveKey(db, key, isNext ? 'signing' : 'retiring', at)
      await keepRecord(db, domain.id, dkimRecord(domain.domain, key.selector, openedKey(key, use.secrets), isNext))
    }
  })
}

async function isSeen(db: Db, key: DkimKeyRow, domain: DomainRow): Promise<boolean> {
  const name = recordName(key, domain)
  return (await recordsOf(db, [domain.id])).some(each => each.name === name && each.status === 'verified')
}

/**
 * Forgets the keys that have not signed for long enough, and takes away their records that Mailroom published.
 * @throws whatever the zone throws; what is left is taken up the next time
 */
export async function retireKeys(use: DomainsUse, domain: DomainRow): Promise<void> {
  const before = plusMs(use.clock.now(), -retireMs)
  for (const key of await keysOf(use.db, domain.id)) {
    if (key.state !== 'retiring' || (key.state_since ?? key.created_at) > before) continue
    const name = recordName(key, domain)
    await unpublish(use, domain, name)
    await inTransaction(use.db, async db => {
      await deleteKey(db, key)
      await dropRecord(db, domain.id, 'dkim', name)
    })
  }
}

async function unpublish({ zone }: DomainsUse, { id, domain }: DomainRow, name: string): Promise<void> {
  const held = await zone?.zoneOf(domain)
  if (!held) return
  for (const record of await held.at(name)) {
    const maker = makerOf(record)
    if (maker.kind === 'mailroom' && maker.domainId === id) await held.remove(record.id)
  }
}

/** Begins a rotation where the key that signs is older than so many days; 0: never. */
export async function beginIfOld(use: DomainsUse, domain: DomainRow, rotateDays: number): Promise<void> {
  if (rotateDays === 0 || domain.status !== 'verified') return
  const signing = (await keysOf(use.db, domain.id)).filter(each => each.state === 'signing')
  if (signing.length > 0 && signing.every(each => isOld(each, plusMs(use.clock.now(), -rotateDays * dayMs))))
    await beginRotation(use, domain)
}

function isOld({ created_at, state_since }: DkimKeyRow, before: Instant): boolean {
  return (state_since ?? created_at) < before
}
