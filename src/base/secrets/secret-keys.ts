import type { Clock } from '../clock.ts'
import { type Db, inTransaction } from '../database/database.ts'
import type { Log } from '../observability/log.ts'
import { createSecretFile, readSecretFile, type Secrets, secretFile } from './secrets.ts'

/** The secret key that the database is sealed with is not at hand; the message says what to do. */
export class UnknownSecretKeyError extends Error {
  override readonly name = 'UnknownSecretKeyError'
}

/**
 * The secrets of this process: those of the settings, else those kept in its folder, else, where nothing is sealed yet,
 * new ones that are kept there. All processes on one database need the same.
 * @throws UnknownSecretKeyError
 */
export async function loadOrCreateSecrets(
  db: Db,
  given: { readonly secrets: Secrets | undefined; readonly varFolder: string },
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Secrets> {
  const secrets = given.secrets ?? readSecretFile(given.varFolder) ?? (await newSecrets(db, given.varFolder, log))
  await registerSecretKey(db, secrets, clock)
  return secrets
}

/**
 * The secrets that are at hand, where they are those of the database: for commands, which make none.
 * @throws UnknownSecretKeyError
 */
export async function loadSecrets(
  db: Db,
  given: { readonly secrets: Secrets | undefined; readonly varFolder: string },
): Promise<Secrets> {
  const secrets = given.secrets ?? readSecretFile(given.varFolder)
  const noted = await db.selectFrom('secret_keys').select('id').execute()
  if (secrets && noted.some(({ id }) => id === secrets.id)) return secrets
  throw unknownKey(noted[0]?.id ?? '(none yet: start `serve` first)', secrets?.ids.join(', ') ?? 'none')
}

async function newSecrets(db: Db, varFolder: string, log: Log): Promise<Secrets> {
  const [noted] = await db.selectFrom('secret_keys').select('id').execute()
  const isMade = noted === undefined
  if (isMade) createSecretFile(varFolder)
  const secrets = readSecretFile(varFolder)
  if (!secrets) throw unknownKey(noted?.id ?? '', 'none')
  if (isMade)
    log.info(
      { secret_key: secrets.id, file: secretFile(varFolder) },
      'made a secret key; keep a copy of it, without it no DKIM key of the database can be used',
    )
  return secrets
}

/** Notes which key seals from now on, unless another seals that this process has not. */
async function registerSecretKey(db: Db, secrets: Secrets, clock: Clock): Promise<void> {
  await inTransaction(db, async tx => {
    // Written before it looks: of two that start at once with keys of their own, one sees the other's.
    await tx
      .insertInto('secret_keys')
      .values({ id: secrets.id, created_at: clock.now() })
      .onDuplicateKeyUpdate({ id: secrets.id })
      .execute()
    const noted = await tx.selectFrom('secret_keys').select('id').forUpdate().execute()
    const missing = noted.find(({ id }) => !secrets.ids.includes(id))
    if (missing) throw unknownKey(missing.id, secrets.ids.join(', '))
  })
}

function unknownKey(id: string, held: string): UnknownSecretKeyError {
  return new UnknownSecretKeyError(
    `The database is sealed with the secret key ${id}, and this process has ${held}: give all processes the same MAILROOM_SECRET_KEY, or the file secret.key that the first of them keeps in its MAILROOM_VAR.`,
  )
}

/** Forgets the keys that nothing is sealed with any more: processes need not have them. */
export async function deleteRetiredSecretKeys(db: Db, secrets: Secrets): Promise<void> {
  await db.deleteFrom('secret_keys').where('id', '!=', secrets.id).execute()
}
