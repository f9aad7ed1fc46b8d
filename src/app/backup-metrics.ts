import { type Instant, millisecondsOf } from '../base/clock.ts'
import { selectNewestBackup } from '../base/database/backup-runs-table.ts'
import type { Db } from '../base/database/database.ts'
import { gauge } from '../base/observability/metrics.ts'

const lastSuccess = gauge(
  'mailroom_backup_last_success_timestamp_seconds',
  'When the last complete backup was made; 0: never.',
)
const lastDuration = gauge('mailroom_backup_last_duration_seconds', 'Duration of the last complete backup.')
const lastSize = gauge('mailroom_backup_last_size_bytes', 'Size of the last complete backup: all that a restore reads.')
const lastWritten = gauge(
  'mailroom_backup_last_written_bytes',
  'Bytes that the last complete backup wrote, beyond what earlier backups had.',
)
const lastProven = gauge(
  'mailroom_restore_last_proven_timestamp_seconds',
  'When a backup was last verified by a trial restore; 0: never.',
)
const lastDamaged = gauge(
  'mailroom_backup_last_damaged_timestamp_seconds',
  'When a backup was last found damaged; 0: never.',
)

/** Shows what the commands `backup` and `backup verify` recorded. */
export async function updateBackupMetrics(db: Db): Promise<void> {
  const newest = await selectNewestBackup(db, 'finished_at')
  lastSuccess.set(timestamp(newest?.finished_at))
  lastDuration.set(newest?.seconds ?? 0)
  lastSize.set(newest?.bytes ?? 0)
  lastWritten.set(newest?.new_bytes ?? 0)
  lastProven.set(timestamp((await selectNewestBackup(db, 'proven_at'))?.proven_at))
  lastDamaged.set(timestamp((await selectNewestBackup(db, 'refuted_at'))?.refuted_at))
}

function timestamp(at: Instant | null | undefined): number {
  return at ? millisecondsOf(at) / 1000 : 0
}
