import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import type { DatabaseSchema } from '../../../base/database/schema.ts'
import type { SealedSecret } from '../../../base/secrets/secrets.ts'

/** A row without the certificate and its key. */
export type CertificateRow = Pick<
  Selectable<DatabaseSchema['certificates']>,
  'name' | 'fingerprint' | 'not_after' | 'next_attempt_at' | 'failures' | 'last_error'
>

const batchSize = 500

/** The rows of these names, in any order. */
export async function selectCertificates(db: Db, names: readonly string[]): Promise<readonly CertificateRow[]> {
  const selected: CertificateRow[] = []
  for (let from = 0; from < names.length; from += batchSize)
    selected.push(
      ...(await db
        .selectFrom('certificates')
        .select(['name', 'fingerprint', 'not_after', 'next_attempt_at', 'failures', 'last_error'])
        .where('name', 'in', names.slice(from, from + batchSize))
        .execute()),
    )
  return selected
}

/** The certificate of a name, with its sealed key; undefined: none was issued yet. */
export async function selectIssuedCertificate(
  db: Db,
  name: string,
): Promise<{ readonly chain: string; readonly sealedKey: SealedSecret } | undefined> {
  const row = await db
    .selectFrom('certificates')
    .select(['chain', 'private_key', 'sealed_by'])
    .where('name', '=', name)
    .executeTakeFirst()
  if (!row?.chain || !row.private_key || !row.sealed_by) return undefined
  return { chain: row.chain, sealedKey: { keyId: row.sealed_by, text: row.private_key } }
}

/** Inserts names without a certificate, due at once; names that are there stay as they are. */
export async function insertPendingCertificates(db: Db, names: readonly string[], now: Instant): Promise<void> {
  for (let from = 0; from < names.length; from += batchSize)
    await db
      .insertInto('certificates')
      .ignore()
      .values(
        names.slice(from, from + batchSize).map(name => ({ name, next_attempt_at: now, failures: 0, created_at: now })),
      )
      .execute()
}

/** Leases the order for a name to the caller until `until`. False: it is not due any more. */
export async function claimOrder(
  db: Db,
  order: { readonly name: string; readonly lease: string; readonly now: Instant; readonly until: Instant },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('certificates')
    .set({ lease: order.lease, next_attempt_at: order.until })
    .where('name', '=', order.name)
    .where('next_attempt_at', '<=', order.now)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export interface SealedCertificate {
  readonly fingerprint: string
  readonly chain: string
  readonly sealedKey: SealedSecret
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/** Stores a certificate, unless the caller's lease expired and another process has one. Was it stored? */
export async function updateIssuedCertificate(
  db: Db,
  claim: { readonly name: string; readonly lease: string },
  issued: SealedCertificate,
  renewAt: Instant,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('certificates')
    .set({
      fingerprint: issued.fingerprint,
      chain: issued.chain,
      private_key: issued.sealedKey.text,
      sealed_by: issued.sealedKey.keyId,
      not_before: issued.notBefore,
      not_after: issued.notAfter,
      next_attempt_at: renewAt,
      lease: null,
      failures: 0,
      last_error: null,
    })
    .where('name', '=', claim.name)
    .where('lease', '=', claim.lease)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Records a failed order, unless another process has the lease; the previous certificate stays. */
export async function updateFailedOrder(
  db: Db,
  claim: { readonly name: string; readonly lease: string },
  failure: { readonly why: string | null; readonly failures: number; readonly againAt: Instant },
): Promise<void> {
  await db
    .updateTable('certificates')
    .set({ next_attempt_at: failure.againAt, lease: null, failures: failure.failures, last_error: failure.why })
    .where('name', '=', claim.name)
    .where('lease', '=', claim.lease)
    .execute()
}

/** Postpones an order, unless a process is ordering now. */
export async function updateNextAttempt(db: Db, name: string, againAt: Instant, why: string): Promise<void> {
  await db
    .updateTable('certificates')
    .set({ next_attempt_at: againAt, last_error: why })
    .where('name', '=', name)
    .where('lease', 'is', null)
    .execute()
}

/** Deletes certificates that expired before `before`, some at a time. */
export async function deleteExpiredCertificates(db: Db, before: Instant): Promise<void> {
  await db.deleteFrom('certificates').where('not_after', '<', before).limit(batchSize).execute()
}

/** Inserts the key of our account with an authority, unless there is one. */
export async function insertAccountKey(db: Db, directory: string, sealed: SealedSecret, now: Instant): Promise<void> {
  await db
    .insertInto('acme_accounts')
    .ignore()
    .values({ directory, private_key: sealed.text, sealed_by: sealed.keyId, created_at: now })
    .execute()
}

export async function selectAccountKey(db: Db, directory: string): Promise<SealedSecret | undefined> {
  const row = await db
    .selectFrom('acme_accounts')
    .select(['private_key', 'sealed_by'])
    .where('directory', '=', directory)
    .executeTakeFirst()
  return row && { keyId: row.sealed_by, text: row.private_key }
}

export async function insertChallenge(db: Db, token: string, keyAuthorization: string, now: Instant): Promise<void> {
  await db
    .insertInto('acme_challenges')
    .values({ token, key_authorization: keyAuthorization, created_at: now })
    .onDuplicateKeyUpdate({ key_authorization: keyAuthorization })
    .execute()
}

/** The key authorization that the authority expects for this token (RFC 8555 §8.3). */
export async function selectKeyAuthorization(db: Db, token: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('acme_challenges')
    .select('key_authorization')
    .where('token', '=', token)
    .executeTakeFirst()
  return row?.key_authorization
}

export async function deleteChallenge(db: Db, token: string): Promise<void> {
  await db.deleteFrom('acme_challenges').where('token', '=', token).execute()
}

export async function deleteChallengesBefore(db: Db, before: Instant): Promise<void> {
  await db.deleteFrom('acme_challenges').where('created_at', '<', before).limit(batchSize).execute()
}

interface SealedKeyRow {
  readonly table: 'certificates' | 'acme_accounts'
  readonly key: string
  readonly sealed: SealedSecret
}

/** Keys that are sealed with another secret key than `sealedBy`; locks their rows until the transaction ends. */
export async function lockKeysNotSealedBy(db: Db, sealedBy: string, limit: number): Promise<readonly SealedKeyRow[]> {
  const certificates = await db
    .selectFrom('certificates')
    .select(['name as key', 'private_key', 'sealed_by'])
    .where('sealed_by', '!=', sealedBy)
    .orderBy('name')
    .limit(limit)
    .forUpdate()
    .execute()
  const accounts = await db
    .selectFrom('acme_accounts')
    .select(['directory as key', 'private_key', 'sealed_by'])
    .where('sealed_by', '!=', sealedBy)
    .orderBy('directory')
    .limit(limit)
    .forUpdate()
    .execute()
  const rowsOf = (table: SealedKeyRow['table'], rows: readonly (typeof certificates)[number][]) =>
    rows.map(row => ({ table, key: row.key, sealed: { keyId: row.sealed_by ?? '', text: row.private_key ?? '' } }))
  return [...rowsOf('certificates', certificates), ...rowsOf('acme_accounts', accounts)]
}

export async function updateSealedKey(db: Db, { table, key }: SealedKeyRow, sealed: SealedSecret): Promise<void> {
  const name = table === 'certificates' ? 'name' : 'directory'
  await sql`UPDATE ${sql.table(table)} SET private_key = ${sealed.text}, sealed_by = ${sealed.keyId}
    WHERE ${sql.ref(name)} = ${key}`.execute(db)
}
