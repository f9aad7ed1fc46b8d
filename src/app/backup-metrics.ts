import { type Instant, millisecondsOf } from '../base/clock.ts'
import { startRounds } from '../base/concurrency/background-job.ts'
import { selectNewest } from '../base/database/backup-runs-table.ts'
import { gauge } from '../base/observability/metrics.ts'
import type { Shared } from './shared.ts'

const made = gauge('mailroom_backup_last_success_timestamp_seconds', 'When the last backup became whole; 0: never.')
const seconds = gauge('mailroom_backup_last_duration_seconds', 'How long the last backup took.')
const bytes = gauge('mailroom_backup_last_size_bytes', 'All that a restore of the last backup reads.')
const newBytes = gauge('mailroom_backup_last_written_bytes', 'What the last backup wrote that no earlier one had.')
const proven = gauge(
  'mailroom_restore_last_proven_timestamp_seconds',
  'When a backup was last restored for a trial and found whole; 0: never.',
)
const refuted = gauge(
  'mailroom_backup_last_damaged_timestamp_seconds',
  'When a backup was last found damaged; 0: never.',
)

const pauseMs = 30_000

/** Keeps showing what operators' commands recorded of backups. */
export function startBackupMetrics({ db, log, atEnd }: Pick<Shared, 'db' | 'log' | 'atEnd'>): void {
  const rounds = startRounds({ pauseMs, log, failure: 'the records of backups were not read' }, async () => {
    const newest = await selectNewest(db, 'finished_at')
    made.set(timestamp(newest?.finished_at))
    seconds.set(newest?.seconds ?? 0)
    bytes.set(newest?.bytes ?? 0)
    newBytes.set(newest?.new_bytes ?? 0)
    proven.set(timestamp((await selectNewest(db, 'proven_at'))?.proven_at))
    refuted.set(timestamp((await selectNewest(db, 'refuted_at'))?.refuted_at))
    return 'done'
  })
  atEnd(() => rounds.stop())
}

function timestamp(at: Instant | null | undefined): number {
  return at ? millisecondsOf(at) / 1000 : 0
}
