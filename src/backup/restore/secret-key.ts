import { existsSync, readFileSync } from 'node:fs'
import { CommandError } from '../../base/operator-error.ts'
import { readSecretKeys, secretFile, secretsOf, writeSecretFile } from '../../base/secrets/secrets.ts'

/** The secret key at hand, in base64, as the settings give it or the folder keeps it; undefined: there is none. */
export function readSecretKeyText(given: string | undefined, varFolder: string): string | undefined {
  if (given !== undefined) return given.trim()
  const file = secretFile(varFolder)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/** The ids of the keys in such a text. */
function keyIdsOf(text: string | undefined): readonly string[] {
  const keys = text === undefined ? undefined : readSecretKeys(text)
  return keys ? secretsOf(keys).ids : []
}

/** What of a backup's sealing the keys here have to do with. */
export interface SealedBackup {
  /** The ids of the keys that it is sealed with. */
  readonly sealedBy: readonly string[]
  /** The key that it holds; undefined: none. */
  readonly includedKey: string | undefined
}

/**
 * Makes sure that what the backup sealed can be opened here: by the key at hand, or by the one in the backup, which is kept
 * in the folder then, if none is there. Says what it did, for a person.
 * @throws CommandError where neither opens it
 */
export function ensureSecretKey(backup: SealedBackup, given: string | undefined, varFolder: string): string {
  const { sealedBy, includedKey } = backup
  const opens = (text: string | undefined) => sealedBy.every(id => keyIdsOf(text).includes(id))
  const here = readSecretKeyText(given, varFolder)
  if (sealedBy.length === 0) return 'Nothing in the backup is sealed with a secret key.'
  if (opens(here)) return `The secret key at hand opens what the backup sealed (${sealedBy.join(', ')}).`
  if (includedKey === undefined || !opens(includedKey))
    throw new CommandError(
      `The backup is sealed with the secret key ${sealedBy.join(', ')} and does not hold it, and ${here === undefined ? 'none is at hand' : `the one at hand is ${keyIdsOf(here).join(', ')}`}: set MAILROOM_SECRET_KEY to it, or put it in ${secretFile(varFolder)}. Without it no DKIM key can be used.`,
    )
  if (here !== undefined)
    throw new CommandError(
      `The backup is sealed with the secret key ${sealedBy.join(', ')}, which it holds, but another is at hand (${keyIdsOf(here).join(', ')}): unset MAILROOM_SECRET_KEY, or take ${secretFile(varFolder)} away.`,
    )
  writeSecretFile(varFolder, includedKey)
  return `The secret key of the backup (${sealedBy.join(', ')}) is in ${secretFile(varFolder)} now.`
}
