import { oneLine } from '../mail/text.ts'
import type { Environment } from './command.ts'

/** Notifies systemd, or another service manager with its protocol, of the state of this process. sd_notify(3). */
export interface ServiceManager {
  /**
   * The service is ready; `status` is one line for people. From now on the watchdog, where there is one, is notified for as
   * long as the event loop runs and `isHealthy` resolves to true in time.
   */
  ready(status: string, isHealthy: () => Promise<boolean>): Promise<void>
  /** The service accepts nothing new, and stops when the work in progress is finished. */
  stopping(status: string): Promise<void>
  /** Stops the notifications. */
  close(): void
}

const noServiceManager: ServiceManager = {
  ready: async () => undefined,
  stopping: async () => undefined,
  close: () => undefined,
}

/** How long systemd waits for the start from each notification on: migrating a large database can take long. */
const startExtensionMs = 60_000
const startHeartbeatMs = 15_000
const healthTimeoutMs = 5000

/**
 * Notifies the service manager that started us; does nothing where none did (no NOTIFY_SOCKET). It runs the program
 * `systemd-notify`, since the runtime has no AF_UNIX datagram sockets; the unit allows that with `NotifyAccess=all`. The
 * watchdog is notified three times in each WATCHDOG_USEC.
 */
export function openServiceManager(env: Environment): ServiceManager {
  if (!env['NOTIFY_SOCKET']) return noServiceManager
  const watchdogMs = watchdogOf(env)
  const notify = openNotifier(env)
  const heartbeat = openHeartbeat()
  heartbeat.start(startHeartbeatMs, () => notify(`EXTEND_TIMEOUT_USEC=${startExtensionMs * 1000}`))
  return {
    async ready(status, isHealthy) {
      heartbeat.stop()
      await notify('READY=1', `STATUS=${oneLine(status)}`, 'WATCHDOG=1')
      if (watchdogMs === undefined) return
      heartbeat.start(watchdogMs / 3, async () => {
        if (await isHealthyInTime(isHealthy)) await notify('WATCHDOG=1')
      })
    },
    async stopping(status) {
      heartbeat.stop()
      await notify('STOPPING=1', `STATUS=${oneLine(status)}`)
      if (watchdogMs !== undefined) heartbeat.start(watchdogMs / 3, () => notify('WATCHDOG=1'))
    },
    close: () => heartbeat.stop(),
  }
}

/** The interval in which the watchdog expects a notification, in milliseconds; undefined: none. sd_watchdog_enabled(3). */
function watchdogOf(env: Environment): number | undefined {
  const ms = Number(env['WATCHDOG_USEC'] ?? 0) / 1000
  const isForUs = !env['WATCHDOG_PID'] || Number(env['WATCHDOG_PID']) === process.pid
  return ms > 0 && isForUs ? ms : undefined
}

/** Repeats an action, never two at a time, without keeping the process alive. */
function openHeartbeat() {
  let timer: ReturnType<typeof setInterval> | undefined
  return {
    start(intervalMs: number, beat: () => Promise<void>) {
      let isRunning = false
      timer = setInterval(() => {
        if (isRunning) return
        isRunning = true
        void beat().finally(() => {
          isRunning = false
        })
      }, intervalMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}

async function isHealthyInTime(isHealthy: () => Promise<boolean>): Promise<boolean> {
  return Promise.race([isHealthy().catch(() => false), Bun.sleep(healthTimeoutMs).then(() => false)])
}

/** Sends lines. Never throws: where a notification is missing, the service manager acts. */
function openNotifier(env: Environment): (...lines: readonly string[]) => Promise<void> {
  return async (...lines) => {
    try {
      const notifying = Bun.spawn(['systemd-notify', ...lines], {
        env: { ...env },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      await notifying.exited
    } catch (error) {
      process.stderr.write(`mailroom: systemd-notify could not be run: ${(error as Error).message}\n`)
    }
  }
}
