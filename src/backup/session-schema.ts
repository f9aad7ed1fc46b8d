import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../api/common-schemas.ts'

export const backupListSchema = t.Object({
  folder: nullable(
    t.String({ description: 'MAILROOM_BACKUP_FOLDER; null: it is not set, and nothing can be verified here.' }),
  ),
  problem: nullable(t.String({ description: 'Why the folder could not be read.' })),
  data: t.Array(
    t.Object(
      {
        id: t.String(),
        finished_at: nullable(dateTimeSchema),
        seconds: nullable(t.Number()),
        bytes: nullable(t.Integer({ description: 'What a restore reads.' })),
        new_bytes: nullable(t.Integer({ description: 'What this backup wrote; the rest was in the folder already.' })),
        messages: nullable(t.Integer()),
        encryption: nullable(oneOf(['none', 'age', 'gpg'], { description: 'null: it is not in the folder.' })),
        is_in_folder: t.Boolean(),
        damage: nullable(t.String({ description: 'What is wrong with its manifest.' })),
        proven_at: nullable(dateTimeSchema),
        refuted_at: nullable(dateTimeSchema),
      },
      { title: 'Backup' },
    ),
  ),
})

export const verifyBackupSchema = t.Object({
  quick: t.Optional(t.Boolean({ description: 'Only reads the files, and restores nothing.' })),
})
