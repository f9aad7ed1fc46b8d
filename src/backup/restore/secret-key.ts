import { existsSync, readFileSync } from 'node:fs'
import { CommandError } from '../../base/operator-error.ts'
import { readSecretKeys, secretFile, secretsOf, writeSecretFile } from '../../base/secrets/secrets.ts'

/** The present secret key, in base64: the configured one, else the one in the folder; undefined: there is none. */
export function readSecretKeyText(configured: string | undefined, varFolder: string): string | undefined {
  if (configured !== undefined) return configured.trim()
  const file = secretFile(varFolder)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/** The ids of the keys in such a text. */
function keyIdsOf(text: string | undefined): readonly string[] {
  const keys = text === undefined ? undefined : readSecretKeys(text)
  return keys ? secretsOf(keys).ids : []
}

/** The secret keys that a backup needs and includes. */
export interface SealedBackup {
  /** The ids of the keys that its secrets are encrypted with. */
  readonly sealedBy: readonly string[]
  /** The key in the backup; undefined: there is none. */
  readonly includedKey: string | undefined
}

/**
 * Makes sure that the secrets in the backup can be decrypted here: with the present key, or, if there is none, with the key in the
 * backup, which is then written to the folder. Gives a sentence for a person about the outcome.
 * @throws CommandError when neither key works
 */
export function ensureSecretKey(backup: SealedBackup, configured: string | undefined, varFolder: string): string {
  const { sealedBy, includedKey } = backup
  const opens = (text: string | undefined) => sealedBy.every(id => keyIdsOf(text).includes(id))
  const present = readSecretKeyText(configured, varFolder)
  if (sealedBy.length === 0) return 'No secret in the backup is encrypted with a secret key.'
  if (opens(present)) return `The present secret key decrypts the secrets in the backup (${sealedBy.join(', ')}).`
  if (includedKey === undefined || !opens(includedKey))
    throw new CommandError(
      `The secrets in the backup are encrypted with the secret key ${sealedBy.join(', ')}, which it does not include, and ${present === undefined ? 'there is no secret key here' : `the present one is ${keyIdsOf(present).join(', ')}`}: set MAILROOM_SECRET_KEY to it, or put it in ${secretFile(varFolder)}. Without it no DKIM key can be used.`,
    )
  if (present !== undefined)
    throw new CommandError(
      `The secrets in the backup are encrypted with the secret key ${sealedBy.join(', ')}, which it includes, but another one is present (${keyIdsOf(present).join(', ')}): unset MAILROOM_SECRET_KEY, or move ${secretFile(varFolder)} away.`,
    )
  writeSecretFile(varFolder, includedKey)
  return `The secret key of the backup (${sealedBy.join(', ')}) was written to ${secretFile(varFolder)}.`
}
