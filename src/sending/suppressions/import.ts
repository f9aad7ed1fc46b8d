import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import type { BrandRow } from '../../accounts/brands/table.ts'
import { fromIso, type Instant } from '../../base/clock.ts'
import { type Db, inTransaction, isDuplicate } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { parseAddress } from '../../mail/address.ts'
import { type NewSuppression, suppress, suppressNew } from './suppress.ts'
import type { SuppressionReason } from './table.ts'

/** The names of the fields that an entry may have. */
export const suppressionEntryFields = [
  'email',
  'reason',
  'brand',
  'created_at',
  'expires_at',
  'unsubscribed_at',
  'evidence',
] as const

/** An entry as it stands in a file. */
export type SuppressionEntry = Readonly<Partial<Record<(typeof suppressionEntryFields)[number], string>>>

/** What is wrong with an entry: a sentence without its full stop. */
export class InvalidEntryError extends Error {
  override readonly name = 'InvalidEntryError'
}

/** What entries are read against. */
export interface SuppressionImportContext {
  readonly organizationId: Id<'org'>
  readonly brands: readonly Pick<BrandRow, 'id' | 'slug'>[]
  /** Of entries that name none; undefined: each has to. */
  readonly brandId: Id<'brd'> | undefined
}

const reasons: readonly SuppressionReason[] = ['hard_bounce', 'complaint', 'unsubscribe', 'manual']
const maxEvidenceLength = 2000

/** What an entry wishes to be on the list: two things where someone unsubscribed besides. @throws InvalidEntryError */
export function readEntry(
  entry: SuppressionEntry,
  ground: SuppressionImportContext,
  now: Instant,
): readonly NewSuppression[] {
  const place = { organizationId: ground.organizationId, brandId: brandOf(entry, ground), email: emailOf(entry) }
  const reason = reasonOf(entry)
  const createdAt = pastOf(entry, 'created_at', now)
  const expiresAt = timeOf(entry, 'expires_at') ?? null
  if (expiresAt !== null && expiresAt <= now) throw new InvalidEntryError(`expires_at ${entry.expires_at} is past`)
  const unsubscribedAt = pastOf(entry, 'unsubscribed_at', now)
  const evidence = entry.evidence?.trim().slice(0, maxEvidenceLength) || null
  const wish: NewSuppression = { ...place, reason, expiresAt, evidence, ...(createdAt !== undefined && { createdAt }) }
  if (unsubscribedAt === undefined || reason === 'unsubscribe') return [wish]
  return [{ ...place, reason: 'unsubscribe', createdAt: unsubscribedAt }, wish]
}

function emailOf({ email }: SuppressionEntry): string {
  if (!email?.trim()) throw new InvalidEntryError('email is absent')
  const parsed = parseAddress(email.trim())
  if (parsed?.name !== '') throw new InvalidEntryError(`"${email.slice(0, 80)}" is not an email address`)
  return parsed.address.toLowerCase()
}

function reasonOf({ reason }: SuppressionEntry): SuppressionReason {
  if (!reason?.trim()) return 'manual'
  const found = reasons.find(each => each === reason.trim().toLowerCase())
  if (!found) throw new InvalidEntryError(`reason "${reason.slice(0, 80)}" is none of ${reasons.join(', ')}`)
  return found
}

function brandOf({ brand }: SuppressionEntry, { brands, brandId }: SuppressionImportContext): Id<'brd'> {
  const named = brand?.trim()
  if (!named) {
    if (brandId === undefined) throw new InvalidEntryError('brand is absent')
    return brandId
  }
  const found = brands.find(brand => brand.id === named || brand.slug === named)
  if (!found) throw new InvalidEntryError(`the organization has no brand "${named.slice(0, 80)}"`)
  return found.id
}

function timeOf(entry: SuppressionEntry, name: 'created_at' | 'expires_at' | 'unsubscribed_at'): Instant | undefined {
  const text = entry[name]?.trim()
  if (!text) return undefined
  const at = fromIso(text)
  if (at === undefined)
    throw new InvalidEntryError(`${name} "${text.slice(0, 80)}" is not a time such as 2027-01-31T00:00:00Z`)
  return at
}

function pastOf(entry: SuppressionEntry, name: 'created_at' | 'unsubscribed_at', now: Instant): Instant | undefined {
  const at = timeOf(entry, name)
  if (at !== undefined && at > now) throw new InvalidEntryError(`${name} ${entry[name]} is not past`)
  return at
}

/** How many entries changed a list, and how many found it so already. */
export interface SuppressionImportResult {
  readonly added: number
  readonly unchanged: number
}

/** What a dry run did is not kept. */
class DryRunError extends Error {
  readonly imported: SuppressionImportResult
  constructor(imported: SuppressionImportResult) {
    super('a dry run')
    this.imported = imported
  }
}

/**
 * Puts what some entries wish on the lists, in one transaction with its record in the audit log. What is there already
 * stays, so that the same entries may come again.
 * @param isDry only says what it would do
 */
export async function importEntries(
  db: Db,
  entries: readonly (readonly NewSuppression[])[],
  { organizationId }: Pick<SuppressionImportContext, 'organizationId'>,
  operator: Operator,
  isDry: boolean,
): Promise<SuppressionImportResult> {
  const run = (atOnce: boolean) =>
    inTransaction(db, async tx => {
      const fresh = atOnce ? await suppressNew(tx, firstOfEach(entries), operator.clock.now()) : new Set()
      let added = fresh.size
      for (const wishes of entries) {
        let isNew = false
        for (const wish of wishes)
          if (!fresh.has(wish) && (await suppress(tx, wish, operator.clock.now())).isNew) isNew = true
        if (isNew) added++
      }
      const imported = { added, unchanged: entries.length - added }
      if (isDry) throw new DryRunError(imported)
      await recordAuditEntry(tx, operator, {
        action: 'suppressions.import',
        subject: organizationId,
        detail: { ...imported },
      })
      return imported
    })
  const orAgain = (error: unknown) => {
    // Another put one of them there meanwhile.
    if (isDuplicate(error, 'suppressions_email')) return run(false)
    throw error
  }
  return run(true).catch(orAgain).catch(keptOrNot)
}

function keptOrNot(error: unknown): SuppressionImportResult {
  if (error instanceof DryRunError) return error.imported
  throw error
}

/** The entries that wish one thing, the first for each address of a brand: what may come before all others. */
function firstOfEach(entries: readonly (readonly NewSuppression[])[]): readonly NewSuppression[] {
  const first = new Map<string, readonly NewSuppression[]>()
  for (const wishes of entries) {
    const key = `${wishes[0]?.brandId} ${wishes[0]?.email}`
    if (!first.has(key)) first.set(key, wishes)
  }
  return [...first.values()].flatMap(wishes => (wishes.length === 1 ? wishes : []))
}
