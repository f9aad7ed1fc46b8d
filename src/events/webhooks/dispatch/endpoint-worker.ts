import { batched } from '../../../base/concurrency/batch.ts'
import { newWakeup } from '../../../base/concurrency/wakeup.ts'
import { isDatabaseUnavailable } from '../../../base/database/database.ts'
import type { DisabledReason } from '../disabled-reason.ts'
import { loadMakerRights, type MakerRights, maySeeAnyType, maySeeEvent } from '../rights.ts'
import { selectAnyWebhook, type WebhookRow } from '../table.ts'
import { attemptDelivery } from './attempt.ts'
import { releaseWebhook, updateReadThrough } from './claim-table.ts'
import type { DispatchDeps } from './dispatch-deps.ts'
import { countAttempt } from './dispatch-metrics.ts'
import type { FairSlots } from './fair-slots.ts'
import { type DeliveryTask, endedOutcome, outcomeOf, type TaskOutcome } from './outcome.ts'
import { PendingTasks } from './pending-tasks.ts'
import { disableNotAllowed, type SettledDispatch, settleDispatch } from './settlement.ts'

export interface EndpointWorkerDeps extends DispatchDeps {
  /** Names this process in leases. */
  readonly holder: string
  readonly slots: FairSlots
  /** Is the lease of this webhook certain to be ours at this moment? */
  readonly isLeased: () => boolean
  /** Fires when attempts in progress are to be withdrawn. */
  readonly withdrawal: AbortSignal
}

/** Attempts at the same time to one webhook; while it fails, one: it is only probed. */
const maxInFlight = 4
/** The webhook and the rights of its maker are read before events are, and again before the first attempt after so many ms. */
const freshMs = 500
/** Without anything to do for so long, the lease is given back. */
const idleMs = 2000
const flushMs = 2000
const retryMs = 1000

/** How one webhook is seen at the moment. */
interface WebhookView {
  readonly row: WebhookRow
  readonly rights: MakerRights
  readonly loadedMs: number
}

/**
 * Delivers to one webhook, whose lease this process has: new events in their order, from the webhook's cursor on, and beside
 * them the deliveries that are due again. What it has begun and not written when the process dies is begun again by the next
 * holder of the lease, with the same `webhook-id`.
 */
export class EndpointWorker {
  private readonly id: WebhookRow['id']
  private readonly deps: EndpointWorkerDeps
  private readonly wakeup = newWakeup()
  private readonly settle: (outcome: TaskOutcome) => Promise<SettledDispatch>
  private view: WebhookView | undefined
  private failingSince: WebhookRow['failing_since'] = null
  private readonly pending: PendingTasks
  private readonly inFlight = new Map<number, Promise<void>>()
  private flushedThrough = 0
  private flushedMs = performance.now()
  private isEnding = false
  readonly ended: Promise<void>

  /** Starts at once. */
  constructor(id: WebhookRow['id'], deps: EndpointWorkerDeps) {
    this.id = id
    this.deps = deps
    this.pending = new PendingTasks({ ...deps, isInFlight: sequence => this.inFlight.has(sequence) })
    this.settle = batched({ maxItems: 100, maxInFlight: 1 }, outcomes => this.write(outcomes))
    this.ended = this.run()
  }

  /** There may be something new to deliver. */
  wake(): void {
    this.pending.isStale = true
    this.wakeup.notify()
  }

  /** Begins no further attempt. */
  end(): void {
    this.isEnding = true
    this.wakeup.notify()
  }

  private async run(): Promise<void> {
    const { log, db, holder } = this.deps
    try {
      let idleSinceMs = performance.now()
      while (!this.isEnding && this.deps.isLeased()) {
        const isBusy = await this.startNext()
        if (isBusy || this.inFlight.size > 0) idleSinceMs = performance.now()
        if (isBusy) continue
        if (performance.now() - idleSinceMs >= idleMs) break
        await this.flush()
        await this.wakeup.wait(idleMs)
      }
    } catch (error) {
      log.error({ err: error, webhook_id: this.id }, 'could not read what to deliver to a webhook; it is tried again')
      if (!isDatabaseUnavailable(error)) await Bun.sleep(retryMs)
    }
    await Promise.all(this.inFlight.values())
    try {
      await releaseWebhook(db, this.id, { holder, readThrough: this.pending.settledThrough() })
    } catch (error) {
      log.warn({ err: error, webhook_id: this.id }, 'could not give back the lease of a webhook; it runs out')
    }
  }

  /** Starts an attempt when there is one to make, and a slot for it. False: there is nothing to do now. */
  private async startNext(): Promise<boolean> {
    if (this.inFlight.size >= (this.failingSince === null ? maxInFlight : 1)) {
      await Promise.race(this.inFlight.values())
      return true
    }
    const { isEmpty, isStale } = this.pending
    // A change that was answered before an event was recorded is known when it is delivered.
    if (!(await this.refresh(isEmpty && isStale ? 0 : freshMs))) return false
    if (isEmpty && !(this.view && (await this.pending.load(this.view.row, this.view.rights)))) return false
    const release = await this.deps.slots.acquire(this.view?.row.organization_id ?? '')
    // The wait may have been long.
    const isStill = !this.isEnding && this.deps.isLeased() && (await this.refresh(freshMs))
    const task = isStill ? this.pending.takeNext() : undefined
    if (!task) {
      release()
      return isStill
    }
    const attempt = this.deliver(task, release).finally(() => {
      this.inFlight.delete(task.sequence)
      this.wakeup.notify()
    })
    this.inFlight.set(task.sequence, attempt)
    return true
  }

  /**
   * Reads the webhook, unless that was done in the last `withinMs`. False: it is disabled, deleted or no longer ours, and this
   * ends.
   */
  private async refresh(withinMs: number): Promise<boolean> {
    const { db, clock, holder } = this.deps
    const known = this.view
    if (known && performance.now() - known.loadedMs < withinMs) return true
    const loadedMs = performance.now()
    const row = await selectAnyWebhook(db, this.id)
    if (!row || row.disabled_at !== null || row.lease !== holder) {
      this.isEnding = true
      return false
    }
    const rights = await loadMakerRights(db, row, clock.now())
    if (!maySeeAnyType(rights, row)) {
      if (await disableNotAllowed(this.deps, holder, row)) this.logDisabled('not_allowed')
      this.isEnding = true
      return false
    }
    this.view = { row, rights, loadedMs }
    this.failingSince = row.failing_since
    if (known?.row.updated_at !== row.updated_at) {
      this.pending.startOver(row)
      this.flushedThrough = Number(row.read_through)
    }
    return true
  }

  /** Never throws. */
  private async deliver(task: DeliveryTask, release: () => void): Promise<void> {
    const { log, withdrawal } = this.deps
    try {
      const outcome = await this.attempt(task)
      release()
      if (withdrawal.aborted) return
      await this.settleUntilWritten(outcome)
    } catch (error) {
      log.error({ err: error, webhook_id: this.id }, 'could not deliver to a webhook; another process goes on')
      this.isEnding = true
    } finally {
      release()
    }
  }

  private async attempt(task: DeliveryTask): Promise<TaskOutcome> {
    const { clock, withdrawal, log } = this.deps
    const { view } = this
    if (!view) throw new Error('a webhook was not loaded')
    const { row, rights } = view
    if (task.body === null) return endedOutcome(row, task, 'the event is not kept any more', clock.now())
    if (!maySeeEvent(rights, { type: task.type, brand_id: task.brandId }))
      return endedOutcome(row, task, 'whoever made the webhook may not see such events any more', clock.now())
    const result = await attemptDelivery(this.deps, row, { id: task.eventId, body: task.body }, withdrawal)
    const outcome = outcomeOf(row, task, result, clock.now(), Math.random())
    if (withdrawal.aborted) return outcome
    countAttempt(outcome)
    const { status, attempt, http_status, duration_ms } = outcome.delivery
    log.info(
      { webhook_id: row.id, event_id: task.eventId, attempt, outcome: status, http_status, duration_ms },
      'delivered to a webhook',
    )
    return outcome
  }

  /** Tries as long as the lease may be ours: what is not written is delivered again by its next holder. */
  private async settleUntilWritten(outcome: TaskOutcome): Promise<void> {
    const { log, withdrawal, isLeased } = this.deps
    for (;;)
      try {
        const settled = await this.settle(outcome)
        if (settled.kind === 'lost') this.isEnding = true
        return
      } catch (error) {
        log.error({ err: error, webhook_id: this.id }, 'could not write what became of a delivery; it is tried again')
        if (withdrawal.aborted || !isLeased()) {
          this.isEnding = true
          return
        }
        await Bun.sleep(retryMs)
      }
  }

  private async write(outcomes: readonly TaskOutcome[]): Promise<readonly SettledDispatch[]> {
    const written = new Set(outcomes.map(outcome => outcome.delivery.sequence))
    const readThrough = this.pending.settledThrough(written)
    const settled = await settleDispatch(this.deps, this.deps.holder, { webhookId: this.id, outcomes, readThrough })
    if (settled.kind === 'written') {
      this.pending.settle(written)
      this.failingSince = settled.failingSince
      this.flushedThrough = readThrough
      this.flushedMs = performance.now()
      if (settled.disabled !== null) {
        this.isEnding = true
        this.logDisabled(settled.disabled)
      }
    }
    return outcomes.map(() => settled)
  }

  /** Writes how far this has read, where nothing was to be delivered, so that the cursor of a quiet webhook never expires. */
  private async flush(): Promise<void> {
    const { db, holder } = this.deps
    const readThrough = this.pending.settledThrough()
    if (readThrough <= this.flushedThrough || performance.now() - this.flushedMs < flushMs) return
    await updateReadThrough(db, this.id, { holder, readThrough })
    this.flushedThrough = readThrough
    this.flushedMs = performance.now()
  }

  private logDisabled(reason: DisabledReason): void {
    this.deps.log.warn({ webhook_id: this.id, reason }, 'disabled a webhook')
  }
}
