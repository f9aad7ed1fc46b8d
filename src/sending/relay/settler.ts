import type { Clock } from '../../base/clock.ts'
import { type Db, isDatabaseUnavailable } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { timed } from '../../base/observability/metrics.ts'
import type { OutboxLeases } from './leases.ts'
import type { ClaimedRecipient } from './outbox.ts'
import type { NextStep } from './outcome.ts'
import { newSettlementWriter, type Settlement, type SettlementResult } from './settlement.ts'

export interface SettlerDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly leases: OutboxLeases
  /** True once no further submission is to begin. */
  readonly isStopping: () => boolean
}

const retryMs = 1000
const maxRetryMs = 10_000
const maxTriesWhileStopping = 5

/**
 * Settles claimed recipients, and ends their leases. It writes what follows for a recipient however long that takes, because
 * what the provider took and nobody wrote is submitted again some day.
 */
export class Settler {
  private readonly deps: SettlerDeps
  private readonly write: (settlement: Settlement) => Promise<SettlementResult>
  private readonly inFlight = new Set<Promise<void>>()

  constructor(deps: SettlerDeps) {
    this.deps = deps
    this.write = newSettlementWriter(deps.db, deps.clock)
  }

  /** Settles recipients that were not submitted. */
  async settleAll(
    recipients: readonly ClaimedRecipient[],
    nextStep: (recipient: ClaimedRecipient) => NextStep,
  ): Promise<void> {
    await Promise.all(recipients.map(recipient => this.settle(recipient, nextStep(recipient), false)))
  }

  /**
   * Never throws. Resolves when it is written, or when this alone cannot be written, so that it holds up nothing else: then it
   * is tried further in the background.
   * @param isOutcome does it follow from a submission?
   */
  async settle(claimed: ClaimedRecipient, next: NextStep, isOutcome: boolean): Promise<void> {
    const { promise: isAloneUnwritable, resolve: goOn } = Promise.withResolvers<void>()
    const settling = this.writeUntilSettled({ claimed, next, isOutcome }, goOn)
    this.inFlight.add(settling)
    void settling.then(() => this.inFlight.delete(settling))
    await Promise.race([settling, isAloneUnwritable])
  }

  /** Resolves once everything that was begun is settled. */
  async drain(): Promise<void> {
    while (this.inFlight.size > 0) await Promise.all(this.inFlight)
  }

  private async writeUntilSettled(settlement: Settlement, onAloneUnwritable: () => void): Promise<void> {
    const { leases, log, isStopping } = this.deps
    const { claimed } = settlement
    const logKeys = { email_id: claimed.emailId, attempt: claimed.attempts + 1 }
    for (let tries = 1; ; tries++) {
      try {
        const result = await timed('out', 'settle', () => this.write(settlement))
        if (result === 'lost') log.warn(logKeys, 'outbox lease lost; another process has the recipient')
        break
      } catch (error) {
        log.error({ err: error, ...logKeys }, 'could not write the outcome of a submission; it is tried again')
        if (isStopping() && tries >= maxTriesWhileStopping) break
        const isDatabaseAway = isDatabaseUnavailable(error)
        if (!isDatabaseAway) onAloneUnwritable()
        await Bun.sleep(isDatabaseAway ? retryMs : Math.min(retryMs * tries, maxRetryMs))
      }
    }
    leases.release(claimed)
  }
}
