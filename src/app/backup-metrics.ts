import { type Instant, millisecondsOf } from '../base/clock.ts'
import { startJob } from '../base/concurrency/background-job.ts'
import { selectNewestBackup } from '../base/database/backup-runs-table.ts'
import { gauge } from '../base/observability/metrics.ts'
import type { AppContext } from './app-context.ts'

const lastSuccess = gauge(
  'mailroom_backup_last_success_timestamp_seconds',
  'When the last backup became whole; 0: never.',
)
const lastDuration = gauge('mailroom_backup_last_duration_seconds', 'How long the last backup took.')
const lastSize = gauge('mailroom_backup_last_size_bytes', 'All that a restore of the last backup reads.')
const lastWritten = gauge('mailroom_backup_last_written_bytes', 'What the last backup wrote that no earlier one had.')
const lastProven = gauge(
  'mailroom_restore_last_proven_timestamp_seconds',
  'When a backup was last restored for a trial and found whole; 0: never.',
)
const lastDamaged = gauge(
  'mailroom_backup_last_damaged_timestamp_seconds',
  'When a backup was last found damaged; 0: never.',
)

const pauseMs = 30_000

/** Keeps showing what operators' commands recorded of backups. */
export function startBackupMetrics({ db, log, onStop }: Pick<AppContext, 'db' | 'log' | 'onStop'>): void {
  const rounds = startJob({ pauseMs, log, failureMessage: 'the records of backups were not read' }, async () => {
    const newest = await selectNewestBackup(db, 'finished_at')
    lastSuccess.set(timestamp(newest?.finished_at))
    lastDuration.set(newest?.seconds ?? 0)
    lastSize.set(newest?.bytes ?? 0)
    lastWritten.set(newest?.new_bytes ?? 0)
    lastProven.set(timestamp((await selectNewestBackup(db, 'proven_at'))?.proven_at))
    lastDamaged.set(timestamp((await selectNewestBackup(db, 'refuted_at'))?.refuted_at))
    return 'done'
  })
  onStop(() => rounds.stop())
}

function timestamp(at: Instant | null | undefined): number {
  return at ? millisecondsOf(at) / 1000 : 0
}
