import { withBackup } from '../backup/files/open-backup.ts'
import { readContent } from '../backup/files/read-file.ts'
import { readIdentities } from '../backup/format/encryption.ts'
import { progressOnStderr } from '../backup/progress.ts'
import { inspectBackup } from '../backup/restore/inspect.ts'
import { requireEmptyDatabase, requireKnownVersion, restoreBackup } from '../backup/restore/restore.ts'
import { ensureSecretKey } from '../backup/restore/secret-key.ts'
import { systemClock } from '../base/clock.ts'
import { readConfig, readEnvValue } from '../base/config/config.ts'
import { openDatabase } from '../base/database/database.ts'
import { CommandError } from '../base/operator-error.ts'
import { requireOpening } from './backup/verify.ts'
import { type Command, readArguments } from './command.ts'

export const restoreCommand: Command = {
  usage: `./mailroom restore DIR|- [--id ID] [--identity FILE] [--json]

Restores the newest backup of DIR, or that with --id, or the one on standard input (-), into the database of
MAILROOM_DATABASE_URL, which must be empty. All files are looked into first: nothing is changed when one is damaged. A
restore that was killed goes on when the same command is given again; until then nothing serves on that database.
--identity FILE opens what is encrypted with age; for GnuPG the key must be in gpg's keyring.

All that waited to be sent is held, so that what went out since the backup does not go out again, and all API keys are
disabled. Then, when nothing else serves the same domains any more:
  ./mailroom queue list --held      what would be sent
  ./mailroom queue release --all    let it go
  ./mailroom key enable ID          let a key be used again`,

  async run(args, env) {
    const { words, options } = readArguments(args, { words: ['DIR'], options: ['id', 'identity'] })
    const config = readConfig({ ...env, MAILROOM_ROLES: 'http' })
    const identities = options['identity'] === undefined ? [] : readIdentities(options['identity'])
    const from = { id: options['id'], varFolder: config.varFolder }
    return await withBackup(words[0] ?? '', from, async (folder, manifest) => {
      requireKnownVersion(manifest)
      const opening = requireOpening(manifest, identities, false) ?? { identities }
      const progress = progressOnStderr()
      const { db, close } = openDatabase(config.databaseUrl, 1)
      try {
        await requireEmptyDatabase(db, manifest)
        const { problems } = await inspectBackup(folder, manifest, opening, progress)
        if (problems.length > 0)
          throw new CommandError(
            `The backup ${manifest.id} is damaged; nothing was restored:\n  ${problems.join('\n  ')}`,
          )
        const { secret_key } = manifest
        const includedKey = secret_key ? String(await readContent(folder, secret_key, opening)).trim() : undefined
        const sealed = { sealedBy: manifest.secret_keys, includedKey }
        const aboutKey = ensureSecretKey(sealed, readEnvValue(env, 'MAILROOM_SECRET_KEY'), config.varFolder)
        const done = await restoreBackup({
          db,
          clock: systemClock,
          folder,
          manifest,
          opening,
          progress,
          isTrial: false,
        })
        return {
          json: {
            id: manifest.id,
            taken_at: manifest.taken_at,
            rows: done.rows,
            blobs: manifest.blobs,
            held: done.suspendedRecipients,
            disabled_keys: done.disabledKeys,
          },
          text: [
            `Restored the backup ${manifest.id}, as all was at ${manifest.taken_at}: ${done.rows} rows, ${manifest.blobs} blobs.`,
            aboutKey,
            `${done.suspendedRecipients} recipients wait to be sent to, and are on hold: \`queue list --held\` shows them, \`queue release --all\` lets them go.`,
            `${done.disabledKeys} API keys are disabled: \`key enable ID\` lets one be used again.`,
          ].join('\n'),
        }
      } finally {
        await close()
      }
    })
  },
}
