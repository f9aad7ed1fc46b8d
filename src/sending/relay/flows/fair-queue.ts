import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { selectFlows } from '../claim-table.ts'
import type { FlowKey } from '../outbox.ts'

const maxScannedFlows = 1000
const scanTtlMs = 100

/**
 * Names the flows (organization and destination) that have something due, round robin, so that no backlog holds up another
 * flow. A scan of the index is used for a tenth of a second, so that a large backlog does not cost a scan for each claim.
 */
export class FairQueue {
  private due: readonly FlowKey[] = []
  private nextIndex = 0
  /** The last flow of the scan; undefined: the scan came to the end of the index. */
  private last: FlowKey | undefined
  private scannedAtMs = Number.NEGATIVE_INFINITY

  /** At most `count` flows that have something due at `now`, and for which there is room. */
  async next(
    db: Db,
    count: number,
    now: Instant,
    roomOf: (flow: FlowKey) => number = () => 1,
  ): Promise<readonly FlowKey[]> {
    if (this.nextIndex >= this.due.length || performance.now() - this.scannedAtMs > scanTtlMs) await this.scan(db, now)
    const flows: FlowKey[] = []
    for (let looked = 0; looked < this.due.length && flows.length < count; looked++) {
      const flow = this.due[this.nextIndex]
      if (!flow) break
      this.nextIndex++
      // All flows are in this scan: begin again with the first until the scan is old.
      if (this.nextIndex === this.due.length && this.last === undefined) this.nextIndex = 0
      if (roomOf(flow) > 0) flows.push(flow)
    }
    return flows
  }

  private async scan(db: Db, now: Instant): Promise<void> {
    const flows = await selectFlows(db, this.last, maxScannedFlows)
    this.last = flows.length < maxScannedFlows ? undefined : flows.at(-1)
    this.due = flows.filter(flow => flow.dueAt <= now)
    this.nextIndex = 0
    this.scannedAtMs = performance.now()
  }
}
