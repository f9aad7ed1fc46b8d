import { withBackup } from '../backup/files/open-backup.ts'
import { readContent } from '../backup/files/read-file.ts'
import { readIdentities } from '../backup/format/encryption.ts'
import { progressOnStderr } from '../backup/progress.ts'
import { requireEmptyDatabase, requireKnownVersion, restoreBackup } from '../backup/restore/restore.ts'
import { ensureSecretKey } from '../backup/restore/secret-key.ts'
import { inspectBackup } from '../backup/verify/inspect.ts'
import { systemClock } from '../base/clock.ts'
import { readEnvValue } from '../base/config/config.ts'
import { openDatabase } from '../base/database/database.ts'
import { CommandError } from '../base/operator-error.ts'
import { requireDecryptionKeys } from './backup/verify.ts'
import { defineCommand } from './command.ts'
import { readCommandConfig } from './database.ts'

export const restoreCommand = defineCommand({
  name: 'restore',
  summary: 'Restore a backup into an empty database, with the queue held',
  details: `Restores the newest backup of a directory into the database of MAILROOM_DATABASE_URL, which must be empty. All
files are checked first: if one is damaged, nothing is changed. If a restore is interrupted, run the same command again; until
it has finished, nothing serves on that database.

What waited to be sent is held, so that mail which went out since the backup is not sent twice; all API keys are disabled; and
nobody is signed in. People sign in with what they had when the backup was taken: if someone lost an account or a factor
since, take it from them again.
When no other Mailroom serves the same domains any more:

  ./mailroom queue list --held      list what would be sent
  ./mailroom queue release --all    send it
  ./mailroom key enable ID          enable a key`,
  arguments: { from: { placeholder: 'DIR', description: 'the directory; -: standard input' } },
  options: {
    id: { placeholder: 'ID', description: 'restore this backup instead of the newest' },
    identity: {
      placeholder: 'FILE',
      description:
        'the identity that decrypts a backup encrypted with age; for GnuPG the key must be in the keyring of gpg',
    },
  },
  async run({ from, id, identity }, { env }) {
    const { databaseUrl, varFolder } = readCommandConfig(env)
    const identities = identity === undefined ? [] : await readIdentities(identity)
    return await withBackup(from, { id, varFolder }, async (folder, manifest) => {
      requireKnownVersion(manifest)
      const keys = requireDecryptionKeys(manifest, identities, false) ?? { identities }
      const progress = progressOnStderr()
      const { db, close } = openDatabase(databaseUrl, 1)
      try {
        await requireEmptyDatabase(db, manifest)
        const { problems } = await inspectBackup(folder, manifest, keys, progress)
        if (problems.length > 0)
          throw new CommandError(
            `The backup ${manifest.id} is damaged; nothing was restored:\n  ${problems.join('\n  ')}`,
          )
        const { secret_key } = manifest
        const includedKey = secret_key ? String(await readContent(folder, secret_key, keys)).trim() : undefined
        const sealed = { sealedBy: manifest.secret_keys, includedKey }
        const keyRemark = ensureSecretKey(sealed, readEnvValue(env, 'MAILROOM_SECRET_KEY'), varFolder)
        const deps = { db, clock: systemClock, folder, manifest, keys, progress, isTrial: false }
        const { rows, heldRecipients, disabledKeys } = await restoreBackup(deps)
        const { taken_at, blobs } = manifest
        return {
          json: { id: manifest.id, taken_at, rows, blobs, held: heldRecipients, disabled_keys: disabledKeys },
          text: [
            `Restored the backup ${manifest.id}, taken at ${taken_at}: ${rows} rows, ${blobs} blobs.`,
            keyRemark,
            `${heldRecipients} recipients that waited to be sent to are held: \`queue list --held\` lists them, \`queue release --all\` sends them.`,
            `${disabledKeys} API keys are disabled: \`key enable ID\` enables one.`,
            'Everyone has to sign in again. Members, operators and factors are those of the backup: `operator list` lists the operators.',
          ].join('\n'),
        }
      } finally {
        await close()
      }
    })
  },
})
