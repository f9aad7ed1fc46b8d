import { type Operator, recordAuditEntry } from '../../../accounts/audit/audit.ts'
import type { BrandRow } from '../../../accounts/brands/table.ts'
import { fromIso, type Instant } from '../../../base/clock.ts'
import { type Db, inTransaction, isDuplicate } from '../../../base/database/database.ts'
import type { Id } from '../../../base/ids.ts'
import { parseAddress } from '../../../mail/address.ts'
import { type NewSuppression, suppress, suppressNew } from '../suppress.ts'
import type { SuppressionReason } from '../table.ts'

/** The fields that an entry of a suppression file may have. */
export const suppressionEntryFields = [
  'email',
  'reason',
  'brand',
  'created_at',
  'expires_at',
  'unsubscribed_at',
  'evidence',
] as const

/** An entry of a suppression file. */
export type SuppressionEntry = Readonly<Partial<Record<(typeof suppressionEntryFields)[number], string>>>

/** What is wrong with an entry; the message is a sentence without its full stop. */
export class InvalidEntryError extends Error {
  override readonly name = 'InvalidEntryError'
}

/** The organization whose lists entries are imported into. */
export interface SuppressionImportContext {
  readonly organizationId: Id<'org'>
  readonly brands: readonly Pick<BrandRow, 'id' | 'slug'>[]
  /** The brand of entries that name none; undefined: every entry must name one. */
  readonly brandId: Id<'brd'> | undefined
}

const reasons: readonly SuppressionReason[] = ['hard_bounce', 'complaint', 'unsubscribe', 'manual']
const maxEvidenceLength = 2000

/**
 * The suppressions of an entry: two, when the recipient has unsubscribed besides.
 * @throws InvalidEntryError
 */
export function readEntry(
  entry: SuppressionEntry,
  context: SuppressionImportContext,
  now: Instant,
): readonly NewSuppression[] {
  const key = { organizationId: context.organizationId, brandId: brandOf(entry, context), email: emailOf(entry) }
  const reason = reasonOf(entry)
  const createdAt = pastOf(entry, 'created_at', now)
  const expiresAt = timeOf(entry, 'expires_at') ?? null
  if (expiresAt !== null && expiresAt <= now)
    throw new InvalidEntryError(`expires_at ${entry.expires_at} is in the past`)
  const unsubscribedAt = pastOf(entry, 'unsubscribed_at', now)
  const evidence = entry.evidence?.trim().slice(0, maxEvidenceLength) || null
  const suppression: NewSuppression = {
    ...key,
    reason,
    expiresAt,
    evidence,
    ...(createdAt !== undefined && { createdAt }),
  }
  if (unsubscribedAt === undefined || reason === 'unsubscribe') return [suppression]
  return [{ ...key, reason: 'unsubscribe', createdAt: unsubscribedAt }, suppression]
}

function emailOf({ email }: SuppressionEntry): string {
  if (!email?.trim()) throw new InvalidEntryError('email is missing')
  const parsed = parseAddress(email.trim())
  if (parsed?.name !== '') throw new InvalidEntryError(`"${email.slice(0, 80)}" is not an email address`)
  return parsed.address.toLowerCase()
}

function reasonOf({ reason }: SuppressionEntry): SuppressionReason {
  if (!reason?.trim()) return 'manual'
  const found = reasons.find(known => known === reason.trim().toLowerCase())
  if (!found) throw new InvalidEntryError(`reason "${reason.slice(0, 80)}" is not one of ${reasons.join(', ')}`)
  return found
}

function brandOf({ brand }: SuppressionEntry, { brands, brandId }: SuppressionImportContext): Id<'brd'> {
  const named = brand?.trim()
  if (!named) {
    if (brandId === undefined) throw new InvalidEntryError('brand is missing')
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
  if (at !== undefined && at > now) throw new InvalidEntryError(`${name} ${entry[name]} is not in the past`)
  return at
}

/** How many entries were added to the lists, and how many were there already. */
export interface SuppressionImportResult {
  readonly added: number
  readonly unchanged: number
}

/** Rolls a dry run back. */
class DryRunError extends Error {
  override readonly name = 'DryRunError'
  readonly imported: SuppressionImportResult
  constructor(imported: SuppressionImportResult) {
    super('a dry run is rolled back')
    this.imported = imported
  }
}

/**
 * Adds entries to the lists, in one transaction with its audit entry. Existing suppressions stay as they are, so that the
 * same entries may be imported again.
 * @param isDry only reports what it would do
 */
export async function importEntries(
  db: Db,
  entries: readonly (readonly NewSuppression[])[],
  { organizationId }: Pick<SuppressionImportContext, 'organizationId'>,
  operator: Operator,
  isDry: boolean,
): Promise<SuppressionImportResult> {
  const run = (inBulk: boolean) =>
    inTransaction(db, async tx => {
      const inserted = inBulk ? await suppressNew(tx, bulkInsertable(entries), operator.clock.now()) : new Set()
      let added = inserted.size
      for (const suppressions of entries) {
        let isNew = false
        for (const suppression of suppressions)
          if (!inserted.has(suppression) && (await suppress(tx, suppression, operator.clock.now())).isNew) isNew = true
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
  try {
    return await run(true).catch((error: unknown) => {
      // Another transaction added one of them meanwhile.
      if (isDuplicate(error, 'suppressions_email')) return run(false)
      throw error
    })
  } catch (error) {
    if (error instanceof DryRunError) return error.imported
    throw error
  }
}

/** The entries with one suppression, the first for each address of a brand: those that may be inserted before all others. */
function bulkInsertable(entries: readonly (readonly NewSuppression[])[]): readonly NewSuppression[] {
  const first = new Map<string, readonly NewSuppression[]>()
  for (const suppressions of entries) {
    const key = `${suppressions[0]?.brandId} ${suppressions[0]?.email}`
    if (!first.has(key)) first.set(key, suppressions)
  }
  return [...first.values()].flatMap(suppressions => (suppressions.length === 1 ? suppressions : []))
}
