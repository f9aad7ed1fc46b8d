import { oneLine } from '../mail/text.ts'
import type { Environment } from './command.ts'

/** What systemd, or another that speaks its protocol, is told about a service. sd_notify(3). */
export interface ServiceManager {
  /**
   * It serves; `status` is one line for a person. From now on the watchdog, where one is set, hears of us for as long as
   * the event loop runs and `isHealthy` says yes in time.
   */
  ready(status: string, isHealthy: () => Promise<boolean>): Promise<void>
  /** It takes nothing new and ends once what is under way has finished. */
  stopping(status: string): Promise<void>
  /** Says nothing more. */
  close(): void
}

const silent: ServiceManager = {
  ready: async () => undefined,
  stopping: async () => undefined,
  close: () => undefined,
}

/** How long a start may go on from each time that it is heard of: what migrates a large database is not given up. */
const startExtensionMs = 60_000
const startBeatMs = 15_000
const healthMs = 5000

/**
 * Speaks to the service manager that started us; says nothing where none did (no NOTIFY_SOCKET). It goes by the program
 * `systemd-notify`, since no socket of the runtime's reaches an AF_UNIX datagram socket; the unit allows it by
 * `NotifyAccess=all`. The watchdog hears of us three times in each WATCHDOG_USEC.
 */
export function openServiceManager(env: Environment): ServiceManager {
  if (!env['NOTIFY_SOCKET']) return silent
  const watchdogMs = watchdogOf(env)
  const notify = openNotifier(env)
  const beats = openHeartbeat()
  beats.start(startBeatMs, () => notify(`EXTEND_TIMEOUT_USEC=${startExtensionMs * 1000}`))
  return {
    async ready(status, isHealthy) {
      beats.stop()
      await notify('READY=1', `STATUS=${oneLine(status)}`, 'WATCHDOG=1')
      if (watchdogMs === undefined) return
      beats.start(watchdogMs / 3, async () => {
        if (await inTime(isHealthy)) await notify('WATCHDOG=1')
      })
    },
    async stopping(status) {
      beats.stop()
      await notify('STOPPING=1', `STATUS=${oneLine(status)}`)
      if (watchdogMs !== undefined) beats.start(watchdogMs / 3, () => notify('WATCHDOG=1'))
    },
    close: () => beats.stop(),
  }
}

/** How often the watchdog wants to hear of this process, in milliseconds; undefined: it does not. sd_watchdog_enabled(3). */
function watchdogOf(env: Environment): number | undefined {
  const ms = Number(env['WATCHDOG_USEC'] ?? 0) / 1000
  const isForUs = !env['WATCHDOG_PID'] || Number(env['WATCHDOG_PID']) === process.pid
  return ms > 0 && isForUs ? ms : undefined
}

/** Does something again and again, never twice at once, and does not keep the process alive for it. */
function openHeartbeat() {
  let timer: ReturnType<typeof setInterval> | undefined
  return {
    start(everyMs: number, beat: () => Promise<void>) {
      let isUnderWay = false
      timer = setInterval(() => {
        if (isUnderWay) return
        isUnderWay = true
        void beat().finally(() => {
          isUnderWay = false
        })
      }, everyMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}

async function inTime(isHealthy: () => Promise<boolean>): Promise<boolean> {
  return Promise.race([isHealthy().catch(() => false), Bun.sleep(healthMs).then(() => false)])
}

/** Sends lines. Never throws: what the service manager does not hear is its to act on. */
function openNotifier(env: Environment): (...lines: readonly string[]) => Promise<void> {
  return async (...lines) => {
    try {
      const told = Bun.spawn(['systemd-notify', ...lines], { env: { ...env }, stdio: ['ignore', 'ignore', 'inherit'] })
      await told.exited
    } catch (error) {
      process.stderr.write(`mailroom: systemd-notify could not be run: ${(error as Error).message}\n`)
    }
  }
}
