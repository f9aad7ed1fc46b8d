import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import type { DatabaseSchema } from '../../../base/database/schema.ts'
import type { SealedSecret } from '../../../base/secrets/secrets.ts'

type Row = Selectable<DatabaseSchema['certificates']>

/** A certificate without what is long. */
export type CertificateRow = Pick<
  Row,
  'name' | 'fingerprint' | 'not_after' | 'next_attempt_at' | 'failures' | 'last_error'
>

const atOnce = 500

/** What is there for these names. */
export async function selectCertificates(db: Db, names: readonly string[]): Promise<readonly CertificateRow[]> {
  const found: CertificateRow[] = []
  for (let from = 0; from < names.length; from += atOnce)
    found.push(
      ...(await db
        .selectFrom('certificates')
        .select(['name', 'fingerprint', 'not_after', 'next_attempt_at', 'failures', 'last_error'])
        .where('name', 'in', names.slice(from, from + atOnce))
        .execute()),
    )
  return found
}

/** What was issued for a name and sealed; undefined: nothing yet. */
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

/** Names that a certificate is wanted for from now on. */
export async function insertPendingCertificates(db: Db, names: readonly string[], now: Instant): Promise<void> {
  for (let from = 0; from < names.length; from += atOnce)
    await db
      .insertInto('certificates')
      .ignore()
      .values(
        names.slice(from, from + atOnce).map(name => ({ name, next_attempt_at: now, failures: 0, created_at: now })),
      )
      .execute()
}

/** Claims the order for a name that is due, until then. Was it still due? */
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

/** Keeps what was issued, unless the claim ran out and another one was made. Was it kept? */
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

/** Notes why nothing was issued; what was issued before stays. */
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

/** Puts an order off that would fail. */
export async function updateNextAttempt(db: Db, name: string, againAt: Instant, why: string): Promise<void> {
  await db
    .updateTable('certificates')
    .set({ next_attempt_at: againAt, last_error: why })
    .where('name', '=', name)
    .where('lease', 'is', null)
    .execute()
}

/** Forgets what nobody has renewed since then. */
export async function deleteExpiredCertificates(db: Db, before: Instant): Promise<void> {
  await db.deleteFrom('certificates').where('not_after', '<', before).limit(atOnce).execute()
}

/** The key of our account with an authority: this one, unless there is one. */
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

/** What the authority is to find under this token (RFC 8555 §8.3). */
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
  await db.deleteFrom('acme_challenges').where('created_at', '<', before).limit(atOnce).execute()
}

interface SealedKeyRow {
  readonly table: 'certificates' | 'acme_accounts'
  readonly key: string
  readonly sealed: SealedSecret
}

/** What is sealed with another key than this, its rows locked until the transaction ends. */
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
