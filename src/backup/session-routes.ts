import { sessionActor } from '../accounts/audit/session-actor.ts'
import { startedTaskSchema } from '../accounts/tasks/schema.ts'
import type { OperatorTasks } from '../accounts/tasks/tasks.ts'
import { idParamsSchema } from '../api/common-schemas.ts'
import { describeRoute } from '../api/describe.ts'
import { sessionApi } from '../api/session/session-route.ts'
import { type Clock, toIso } from '../base/clock.ts'
import type { Config } from '../base/config/config.ts'
import { selectBackups } from '../base/database/backup-runs-table.ts'
import type { Db } from '../base/database/database.ts'
import { CommandError } from '../base/operator-error.ts'
import { refuse } from '../base/refusal.ts'
import { type BackupDescription, describeBackup } from './files/describe-backup.ts'
import { findBackup, listBackups } from './files/folder.ts'
import { isBackupId } from './format/manifest.ts'
import { backupListSchema, verifyBackupSchema } from './session-schema.ts'
import { needsIdentity, toJsonVerification, verifyBackup } from './verify/verify-backup.ts'

export interface BackupRoutesDeps {
  readonly db: Db
  readonly clock: Clock
  readonly config: Pick<Config, 'backupFolder' | 'databaseUrl'>
  readonly tasks: OperatorTasks
}

/** A manifest has a line for each file: those of the oldest backups are not read for a list. */
const shownBackups = 30

type BackupJson = (typeof backupListSchema.static)['data'][number]

/** The backups, when each was proven, and verifying one, for operators. */
export function backupSessionRoutes(deps: BackupRoutesDeps) {
  const { db, clock, config, tasks } = deps
  const descriptions = new Map<string, BackupDescription>()
  return sessionApi('instance backups')
    .get('/app/api/instance/backups', () => listAll(deps, descriptions), {
      operator: 'session',
      response: backupListSchema,
      detail: describeRoute('listBackups', 'List the newest backups, and when each was proven'),
    })
    .post(
      '/app/api/instance/backups/:id/verify',
      async ({ params: { id }, body, session, context }) => {
        const { backupFolder: folder } = config
        const manifest = await requireBackup(folder, id)
        // No identity of age is kept on the machine that makes the backups: without one nothing is decrypted.
        const keys = needsIdentity(manifest) ? null : { identities: [] }
        return {
          task_id: await tasks.start({
            ...{ kind: 'backup_verify', subject: id, actor: session.email },
            run: async progress => {
              const verification = await verifyBackup({
                ...{ folder: folder ?? '', manifest, keys, isQuick: body.quick ?? false, progress },
                ...{ databaseUrl: config.databaseUrl, scratchUrl: undefined },
                operator: sessionActor(session, context, clock),
                withLive: work => work(db),
              })
              return { ...toJsonVerification(verification), complete: verification.isComplete }
            },
          }),
        }
      },
      {
        operator: 'confirmed',
        params: idParamsSchema,
        body: verifyBackupSchema,
        response: startedTaskSchema,
        detail: describeRoute(
          'verifyBackup',
          'Begin to prove that a backup can be restored',
          ['not_found', 'task_running'],
          'Restores it into a temporary database. What is encrypted with age is only compared with its hashes: the identity that decrypts it belongs elsewhere.',
        ),
      },
    )
}

/** @throws Refusal `not_found` */
async function requireBackup(folder: string | undefined, id: string) {
  if (folder === undefined)
    throw refuse('not_found', {
      message:
        'MAILROOM_BACKUP_FOLDER is not set: set it, or run `./mailroom backup verify DIR` where the backups are.',
    })
  try {
    return await findBackup(folder, id)
  } catch (error) {
    if (error instanceof CommandError) throw refuse('not_found', { message: error.message })
    throw error
  }
}

async function listAll(
  { db, config }: BackupRoutesDeps,
  descriptions: Map<string, BackupDescription>,
): Promise<typeof backupListSchema.static> {
  const known = await selectBackups(db, shownBackups)
  const { ids, problem } = listFolder(config.backupFolder)
  const rows = new Map(known.map(row => [row.id, row]))
  const all = [...new Set([...known.map(row => row.id), ...ids])].toSorted().reverse().slice(0, shownBackups)
  const data: BackupJson[] = []
  for (const id of all) {
    const row = rows.get(id)
    const isInFolder = ids.includes(id)
    const found = isInFolder ? await describeOnce(config.backupFolder ?? '', id, descriptions) : undefined
    const whole = found && !('damage' in found) ? found : undefined
    data.push({
      id,
      finished_at: row ? toIso(row.finished_at) : null,
      seconds: row?.seconds ?? null,
      bytes: row?.bytes ?? whole?.bytes ?? null,
      new_bytes: row?.new_bytes ?? null,
      messages: whole?.messages ?? null,
      encryption: whole?.encryption ?? null,
      is_in_folder: isInFolder,
      damage: found && 'damage' in found ? found.damage : null,
      proven_at: row?.proven_at ? toIso(row.proven_at) : null,
      refuted_at: row?.refuted_at ? toIso(row.refuted_at) : null,
    })
  }
  return { folder: config.backupFolder ?? null, problem, data }
}

/** The manifest of a backup never changes: it is read once. */
async function describeOnce(folder: string, id: string, descriptions: Map<string, BackupDescription>) {
  const known = descriptions.get(id)
  if (known) return known
  const description = await describeBackup(folder, id)
  if (descriptions.size >= 2 * shownBackups) descriptions.clear()
  if (!('damage' in description)) descriptions.set(id, description)
  return description
}

function listFolder(folder: string | undefined): { readonly ids: readonly string[]; readonly problem: string | null } {
  if (folder === undefined) return { ids: [], problem: null }
  try {
    return { ids: listBackups(folder).filter(isBackupId), problem: null }
  } catch (error) {
    return { ids: [], problem: `${folder} cannot be read: ${(error as Error).message}` }
  }
}
