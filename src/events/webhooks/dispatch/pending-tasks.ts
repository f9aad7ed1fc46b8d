import type { Clock } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { fromJson } from '../../../base/database/schema.ts'
import { eventText } from '../../event-json.ts'
import { isEventType } from '../../event-types.ts'
import { selectEvents } from '../../read-events.ts'
import type { SequencedEvent } from '../../table.ts'
import { selectDeliveredSequences, selectDueDeliveries } from '../deliveries/table.ts'
import { type MakerRights, maySeeEvent } from '../rights.ts'
import { typesOf } from '../schema.ts'
import type { WebhookRow } from '../table.ts'
import { type DeliveryTask, taskOfDue } from './outcome.ts'

const maxLoaded = 16

export interface PendingTasksDeps {
  readonly db: Db
  readonly clock: Clock
  /** Is this event being delivered to the webhook? */
  readonly isInFlight: (sequence: number) => boolean
}

/** What is to be delivered to one webhook next, and how far its events were read and settled. */
export class PendingTasks {
  private readonly deps: PendingTasksDeps
  private fresh: DeliveryTask[] = []
  private due: DeliveryTask[] = []
  /** Of loaded new events that are not settled yet. */
  private readonly unsettled = new Set<number>()
  private loadedThrough = 0
  private isTurnOfDue = true
  /** May there be something to load? */
  isStale = true

  constructor(deps: PendingTasksDeps) {
    this.deps = deps
  }

  get isEmpty(): boolean {
    return this.fresh.length === 0 && this.due.length === 0
  }

  /** New events and repeated ones take turns, so that neither waits for all of the other. */
  takeNext(): DeliveryTask | undefined {
    this.isTurnOfDue = !this.isTurnOfDue
    const [first, second] = this.isTurnOfDue ? [this.due, this.fresh] : [this.fresh, this.due]
    return first.shift() ?? second.shift()
  }

  /** What was loaded was for the webhook as it was: reads on from the first event that is not settled. */
  startOver({ read_through }: WebhookRow): void {
    this.fresh = []
    this.due = []
    for (const sequence of this.unsettled) if (!this.deps.isInFlight(sequence)) this.unsettled.delete(sequence)
    this.loadedThrough = Number(read_through)
    this.isStale = true
  }

  /** Loads what is to be delivered next, if there may be something. False: nothing. */
  async load(row: WebhookRow, rights: MakerRights): Promise<boolean> {
    const { db, clock, isInFlight } = this.deps
    if (!this.isStale) return false
    this.isStale = false
    const due = await selectDueDeliveries(db, row.id, clock.now(), maxLoaded)
    const mailboxIds = fromJson(row.mailbox_ids)
    const read = await selectEvents(db, {
      organizationId: row.organization_id,
      after: this.loadedThrough,
      limit: maxLoaded,
      types: typesOf(row).filter(isEventType),
      ...(row.brand_id !== null && { brandId: row.brand_id }),
      ...(mailboxIds.length > 0 && { mailboxIds, keepsOthers: true }),
    })
    // Those that the last holder of the lease, or this one before a change of the webhook, has delivered already.
    const sequences = read.events.map(event => event.sequence)
    const delivered = await selectDeliveredSequences(db, row.id, sequences)
    const events = read.events.filter(
      event => !delivered.has(event.sequence) && !isInFlight(event.sequence) && maySeeEvent(rights, event),
    )
    this.fresh = events.map(newTask)
    for (const event of events) this.unsettled.add(event.sequence)
    this.loadedThrough = read.through
    this.due = due.filter(({ delivery }) => !isInFlight(delivery.sequence)).map(one => taskOfDue(one, eventText))
    // What was in flight was not loaded: its end wakes the worker again.
    if (!read.isEnd || due.length === maxLoaded) this.isStale = true
    return !this.isEmpty || !read.isEnd
  }

  /** How far the webhook has read, once these are settled: up to the first event that is not. */
  settledThrough(written: ReadonlySet<number> = new Set()): number {
    const unsettled = [...this.unsettled].filter(sequence => !written.has(sequence))
    return Math.min(this.loadedThrough, ...unsettled.map(sequence => sequence - 1))
  }

  /** What became of these is written. */
  settle(written: ReadonlySet<number>): void {
    for (const sequence of written) this.unsettled.delete(sequence)
  }
}

function newTask(event: SequencedEvent): DeliveryTask {
  return {
    sequence: event.sequence,
    eventId: event.id,
    type: event.type,
    brandId: event.brand_id,
    attempts: 0,
    body: eventText(event),
  }
}
