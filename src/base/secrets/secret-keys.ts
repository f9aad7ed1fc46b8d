import type { Clock } from '../clock.ts'
import { type Db, inTransaction } from '../database/database.ts'
import type { Log } from '../observability/log.ts'
import { createSecretFile, readSecretFile, type Secrets, secretFile } from './secrets.ts'

/** This process does not have the secret key of the database; the message tells the operator what to do. */
export class UnknownSecretKeyError extends Error {
  override readonly name = 'UnknownSecretKeyError'
}

/**
 * The secret keys of this process: those of the settings, else those of the file in its folder, else, while the database has
 * none yet, a new key, which is written to that file. All processes of one database need the same keys.
 * @throws UnknownSecretKeyError
 */
export async function loadOrCreateSecrets(
  db: Db,
  settings: { readonly secrets: Secrets | undefined; readonly varFolder: string },
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Secrets> {
  const secrets =
    settings.secrets ?? readSecretFile(settings.varFolder) ?? (await newSecrets(db, settings.varFolder, log))
  await registerSecretKey(db, secrets, clock)
  return secrets
}

/**
 * The secret keys of the settings or of the file, which must be those of the database. For commands: they create none.
 * @throws UnknownSecretKeyError
 */
export async function loadSecrets(
  db: Db,
  settings: { readonly secrets: Secrets | undefined; readonly varFolder: string },
): Promise<Secrets> {
  const secrets = settings.secrets ?? readSecretFile(settings.varFolder)
  const registered = await db.selectFrom('secret_keys').select('id').execute()
  if (secrets && registered.some(({ id }) => id === secrets.id)) return secrets
  throw unknownKey(registered[0]?.id ?? '(none yet: run `mailroom serve` first)', secrets?.ids.join(', ') ?? 'none')
}

async function newSecrets(db: Db, varFolder: string, log: Log): Promise<Secrets> {
  const [registered] = await db.selectFrom('secret_keys').select('id').execute()
  const isNew = registered === undefined
  if (isNew) createSecretFile(varFolder)
  const secrets = readSecretFile(varFolder)
  if (!secrets) throw unknownKey(registered?.id ?? '', 'none')
  if (isNew)
    log.info(
      { secret_key: secrets.id, file: secretFile(varFolder) },
      'created a secret key; keep a copy of this file: without it the DKIM keys in the database cannot be decrypted',
    )
  return secrets
}

/** Registers the key that encrypts from now on. @throws UnknownSecretKeyError when this process lacks a registered key */
async function registerSecretKey(db: Db, secrets: Secrets, clock: Clock): Promise<void> {
  await inTransaction(db, async tx => {
    // Inserted before selecting: of two processes that start at once with different keys, one sees the other's.
    await tx
      .insertInto('secret_keys')
      .values({ id: secrets.id, created_at: clock.now() })
      .onDuplicateKeyUpdate({ id: secrets.id })
      .execute()
    const registered = await tx.selectFrom('secret_keys').select('id').forUpdate().execute()
    const missing = registered.find(({ id }) => !secrets.ids.includes(id))
    if (missing) throw unknownKey(missing.id, secrets.ids.join(', '))
  })
}

function unknownKey(id: string, available: string): UnknownSecretKeyError {
  return new UnknownSecretKeyError(
    `The database is encrypted with the secret key ${id}, and this process has ${available}: give all processes the same MAILROOM_SECRET_KEY, or the file secret.key from the MAILROOM_VAR of the first of them.`,
  )
}

/** Deletes the keys with which nothing is encrypted any more: processes no longer need them. */
export async function deleteRetiredSecretKeys(db: Db, secrets: Secrets): Promise<void> {
  await db.deleteFrom('secret_keys').where('id', '!=', secrets.id).execute()
}
