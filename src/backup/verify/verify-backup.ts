import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import { updateRestoreTrial } from '../../base/database/backup-runs-table.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { DecryptionKeys } from '../format/encryption.ts'
import { type Manifest, manifestFiles } from '../format/manifest.ts'
import type { ProgressReporter } from '../progress.ts'
import { requireKnownVersion } from '../restore/restore.ts'
import { inspectBackup } from './inspect.ts'
import { runTrialRestore } from './trial-restore.ts'

export interface VerifyBackupOptions {
  readonly folder: string
  readonly manifest: Manifest
  /** null: nothing decrypts it, so that it is not restored. */
  readonly keys: DecryptionKeys | null
  /** Only reads the files. */
  readonly isQuick: boolean
  /** The database on whose server the trial restore creates another one. */
  readonly databaseUrl: string
  /** An empty database for the trial restore; undefined: one is created. */
  readonly scratchUrl: string | undefined
  readonly operator: Operator
  readonly progress: ProgressReporter
  /** Runs `work` on the live database; undefined: it cannot be reached. */
  withLive<Result>(work: (db: Db) => Promise<Result>): Promise<Result | undefined>
}

/** What is known of a backup after it was verified. */
export interface BackupVerification {
  readonly manifest: Manifest
  /** A sentence for each; empty: it is whole, as far as it was read. */
  readonly problems: readonly string[]
  /** It was restored into a temporary database, and compared. */
  readonly isRestored: boolean
  /** All files were read, and not only compared with their hashes. */
  readonly isComplete: boolean
  /** The live database knows this backup, and has the result. */
  readonly isRecorded: boolean
}

/** Does anything have to be given to decrypt the backup? */
export function needsIdentity(manifest: Manifest): boolean {
  return manifestFiles(manifest).some(file => file.name.endsWith('.age'))
}

/**
 * Proves that a backup can be restored, by restoring it, and records the result with its audit entry.
 * @throws CommandError when this version cannot restore it, or the temporary database cannot be created
 */
export async function verifyBackup(options: VerifyBackupOptions): Promise<BackupVerification> {
  const { folder, manifest, keys, isQuick, databaseUrl, scratchUrl, operator, progress } = options
  const inspection = await inspectBackup(folder, manifest, keys, progress)
  const problems = [...inspection.problems]
  const isRestored = keys !== null && !isQuick && problems.length === 0
  if (isRestored) {
    requireKnownVersion(manifest)
    const { clock } = operator
    problems.push(...(await runTrialRestore({ databaseUrl, scratchUrl, clock, folder, manifest, keys, progress })))
  }
  const result = problems.length > 0 ? 'refuted' : isRestored ? 'proven' : null
  const isRecorded = await options.withLive(db => record(db, operator, { id: manifest.id, result, isQuick }))
  return { manifest, problems, isRestored, isComplete: inspection.isComplete, isRecorded: isRecorded ?? false }
}

interface VerificationRecord {
  readonly id: string
  readonly result: 'proven' | 'refuted' | null
  readonly isQuick: boolean
}

/** Was the result recorded? */
function record(db: Db, operator: Operator, { id, result, isQuick }: VerificationRecord): Promise<boolean> {
  return inTransaction(db, async tx => {
    const detail = { result: result ?? 'files_read', quick: isQuick }
    await recordAuditEntry(tx, operator, { action: 'backup.verify', subject: id, detail })
    return result !== null && (await updateRestoreTrial(tx, id, result, operator.clock.now()))
  })
}

/** How many problems are listed; a backup without its disk has one for each file. */
const maxListedProblems = 1000

export function toJsonVerification({ manifest, problems, isRestored, isRecorded }: BackupVerification) {
  const { id, tables, blobs, taken_at, damaged_blobs } = manifest
  return {
    id,
    taken_at,
    whole: problems.length === 0,
    restored: isRestored,
    recorded: isRecorded,
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    blobs,
    damages: problems.slice(0, maxListedProblems),
    damaged_before: damaged_blobs,
  }
}
