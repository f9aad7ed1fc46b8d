import { setPriority } from 'node:os'
import { withBackup } from '../../backup/files/open-backup.ts'
import { type DecryptionKeys, readIdentities } from '../../backup/format/encryption.ts'
import type { Manifest } from '../../backup/format/manifest.ts'
import { progressOnStderr } from '../../backup/progress.ts'
import {
  type BackupVerification,
  needsIdentity,
  toJsonVerification,
  verifyBackup,
} from '../../backup/verify/verify-backup.ts'
import { isDatabaseUnavailable } from '../../base/database/database.ts'
import { UsageError } from '../../base/operator-error.ts'
import { type CommandOutput, defineCommand } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { readCommandConfig, withDatabase } from '../database.ts'

/** Other programs on the machine come first. */
const niceness = 10

export const verify = defineCommand({
  name: 'backup verify',
  summary: 'Prove that a backup can be restored, by restoring it',
  details: `Restores the backup into a temporary database and compares the rows of each table and the content of each blob. It
lists any damage, and then ends with status 1. The time of the last success is a metric
(mailroom_restore_last_proven_timestamp_seconds).`,
  arguments: { folder: { placeholder: 'DIR', description: 'the directory; -: standard input' } },
  options: {
    id: { placeholder: 'ID', description: 'verify this backup instead of the newest' },
    identity: {
      placeholder: 'FILE',
      description:
        'the identity that decrypts a backup encrypted with age; for GnuPG the key must be in the keyring of gpg',
    },
    quick: { description: 'only read the files; without the key, only check that they are as they were written' },
    'database-url': {
      placeholder: 'URL',
      description: 'restore into this empty database, and empty it again afterwards',
    },
  },
  async run({ folder: from, id, identity, quick, 'database-url': scratchUrl }, { env }) {
    const config = readCommandConfig(env)
    const identities = identity === undefined ? [] : await readIdentities(identity)
    setPriority(niceness)
    return await withBackup(from, { id, varFolder: config.varFolder }, async (folder, manifest) => {
      const keys = requireDecryptionKeys(manifest, identities, quick)
      return describeVerification(
        await verifyBackup({
          ...{ folder, manifest, keys, scratchUrl, isQuick: quick, databaseUrl: config.databaseUrl },
          operator: currentOperator(env),
          progress: progressOnStderr(),
          withLive: work => ifReachable(withDatabase(env, work)),
        }),
      )
    })
  },
})

/**
 * What decrypts the backup; null: nothing does, which `isOptional` allows.
 * @throws UsageError where it is needed and missing
 */
export function requireDecryptionKeys(
  manifest: Manifest,
  identities: readonly string[],
  isOptional: boolean,
): DecryptionKeys | null {
  if (!needsIdentity(manifest) || identities.length > 0) return { identities }
  if (isOptional) return null
  throw new UsageError('--identity is missing: the backup is encrypted with age')
}

/** undefined: the database cannot be reached. */
async function ifReachable<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (isDatabaseUnavailable(error)) return undefined
    throw error
  }
}

function describeVerification(verification: BackupVerification): CommandOutput {
  const { manifest, problems, isRestored, isComplete, isRecorded } = verification
  const json = toJsonVerification(verification)
  const { id, rows, blobs } = json
  if (problems.length > 0)
    return {
      json,
      status: 1,
      text: [`The backup ${id} is damaged:`, ...problems.map(problem => `  ${problem}`)].join('\n'),
    }
  const result = isRestored
    ? `was restored into a temporary database and is complete: ${rows} rows and ${blobs} blobs, each with the content of its hash.`
    : isComplete
      ? `has all its files, each as it was written, with ${rows} rows and ${blobs} blobs. It was not restored.`
      : 'has all its files, each as it was written. Encrypted files were not decrypted: that needs --identity.'
  const notRecorded =
    isRestored && !isRecorded
      ? '\nThe database of MAILROOM_DATABASE_URL does not know this backup: the result is not recorded.'
      : ''
  return { json, text: `The backup ${id} ${result}${damagedBefore(manifest)}${notRecorded}` }
}

function damagedBefore({ damaged_blobs }: Manifest): string {
  if (damaged_blobs.length === 0) return ''
  return `\nThese blobs were damaged in the database already when the backup was taken: ${damaged_blobs.join(', ')}`
}
