import { hourMs, secondMs } from '../../base/clock.ts'
import type { JobRound } from '../../base/concurrency/background-job.ts'
import { newIdleMemoryRound } from '../../base/memory/idle-memory.ts'
import { watchPollMs } from '../../events/sequence-watch.ts'
import { sequencerPollMs } from '../../events/sequencer.ts'
import { heartbeatIntervalMs, openHeartbeat } from '../../health/processes/processes.ts'
import { certificateFilesIntervalMs } from '../../ports/certificates/files.ts'
import type { AppContext } from '../app-context.ts'
import { updateBackupMetrics } from '../backup-metrics.ts'
import { openDoctor } from '../doctor.ts'
import { type Job, once } from './job.ts'

/** The jobs of every process. */
export const everyProcessJobs: readonly Job<AppContext>[] = [
  {
    name: 'disk-space',
    intervalMs: secondMs,
    does: 'checks the free disk space, below which mail is refused',
    isForEachProcess: true,
    open: ({ diskSpace }) => diskSpace.check,
  },
  {
    name: 'idle-memory',
    intervalMs: secondMs,
    does: 'gives memory back to the system when the process has had little to do for a minute',
    isForEachProcess: true,
    open: () => newIdleMemoryRound(),
  },
  {
    name: 'doctor',
    intervalMs: hourMs,
    does: 'runs the quick checks of doctor and logs what they find',
    isForEachProcess: true,
    open: openDoctor,
  },
  {
    name: 'heartbeat',
    intervalMs: heartbeatIntervalMs,
    does: 'records that this process runs, its roles and its version, for operators',
    isForEachProcess: true,
    open: openProcessHeartbeat,
  },
  {
    name: 'backup-metrics',
    intervalMs: 30 * secondMs,
    does: 'shows in metrics when the last backup was made and verified',
    open: ({ db }) => once(() => updateBackupMetrics(db)),
  },
  {
    name: 'certificate-files',
    intervalMs: certificateFilesIntervalMs,
    does: 'reloads the certificate in MAILROOM_TLS_CERT and MAILROOM_TLS_KEY when it changes',
    startedBy: 'fileCertificates',
  },
  {
    name: 'event-sequence',
    intervalMs: sequencerPollMs,
    does: 'numbers the events that were committed, so that readers see them',
    startedBy: 'startSequencer',
  },
  {
    name: 'event-watch',
    intervalMs: watchPollMs,
    does: 'tells those who wait for events that there are new ones',
    startedBy: 'watchSequence',
  },
]

function openProcessHeartbeat({ config, db, clock, relayStatus, onStop }: AppContext): JobRound {
  const findOpenBreaker = () => relayStatus.findOpenBreaker()
  const heartbeat = openHeartbeat({ db, clock, roles: config.roles, findOpenBreaker })
  onStop(() => heartbeat.end())
  return heartbeat.beat
}
