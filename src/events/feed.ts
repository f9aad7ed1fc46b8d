import type { Caller } from '../api/caller.ts'
import { newWakeup } from '../base/concurrency/wakeup.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { gauge } from '../base/observability/metrics.ts'
import { refuse } from '../base/refusal.ts'
import { eventCursor } from './cursor.ts'
import { type EventJson, toJsonEvent } from './event-json.ts'
import { type FeedQuery, type FeedRequest, readFeedRequest, visibleTo } from './feed-request.ts'
import { openFeedStream } from './feed-stream.ts'
import { type EventsRead, selectEvents } from './read-events.ts'
import type { SequenceAdvance, SequenceWatch } from './sequence-watch.ts'
import type { EventFilter } from './table.ts'

/** Who reads the feed. */
export interface FeedReader {
  readonly caller: Caller
  /** The caller as they are now. @throws Refusal where they are no longer admitted */
  readonly currentCaller: () => Promise<Caller>
  /** Fires when the reader has gone. */
  readonly signal: AbortSignal
}

/** A page of events. */
export interface EventPage {
  readonly data: EventJson[]
  /** Where to go on from, also when there was nothing. */
  readonly next_after: string
}

/** The events of an organization, read a page at a time or as they happen. One for a process. */
export interface EventFeed {
  /** The events after the cursor; where there are none, those that come within the time that the query waits. @throws Refusal */
  read(reader: FeedReader, query: FeedQuery): Promise<EventPage>
  /** The same as server-sent events, without end. @param lastEventId the cursor to go on from, before that of the query @throws Refusal */
  stream(reader: FeedReader, query: FeedQuery, lastEventId: string | null): Promise<ReadableStream<Uint8Array>>
  /** Lets nobody wait any longer: the process stops. */
  close(): void
}

/** The refusals of {@link EventFeed} beyond those of its requests. */
export const feedRefusals = ['rate_limited'] as const

/** Readers who wait, of one organization and of all. */
const maxOfOrganization = 100
const maxWaiting = 2000

const waitingReaders = gauge('mailroom_event_feed_waiting', 'Readers of GET /v1/events who wait for an event.')

export function openEventFeed({ db, watch }: { readonly db: Db; readonly watch: SequenceWatch }): EventFeed {
  const closing = new AbortController()
  const waiting = new Map<Id<'org'>, number>()
  let count = 0

  /** Counts a reader who waits. Gives the function that ends that. */
  function admit({ organizationId }: Caller): () => void {
    const ofOrganization = waiting.get(organizationId) ?? 0
    if (count >= maxWaiting || ofOrganization >= maxOfOrganization)
      throw refuse('rate_limited', {
        message: `At most ${maxOfOrganization} readers of an organization, and ${maxWaiting} of all, may wait for events at once.`,
        retryAfterSeconds: 10,
      })
    const add = (more: number) => {
      const left = (waiting.get(organizationId) ?? 0) + more
      if (left > 0) waiting.set(organizationId, left)
      else waiting.delete(organizationId)
      count += more
      waitingReaders.set(count)
    }
    add(1)
    return () => add(-1)
  }

  async function waitFor(reader: FeedReader, request: FeedRequest): Promise<EventsRead> {
    const leave = admit(reader.caller)
    try {
      const signal = AbortSignal.any([reader.signal, closing.signal])
      return await waitForEvents({ db, watch }, { ...reader, signal }, request)
    } finally {
      leave()
    }
  }

  return {
    async read(reader, query) {
      const request = await readFeedRequest(db, reader.caller, query)
      const { after, limit } = request
      const found = await selectEvents(db, { ...visibleTo(reader.caller, request), after, limit })
      const isToWait = found.events.length === 0 && request.waitMs > 0
      const { events, through } = isToWait ? await waitFor(reader, { ...request, after: found.through }) : found
      return { data: events.map(toJsonEvent), next_after: eventCursor(through) }
    },
    async stream(reader, query, lastEventId) {
      const request = await readFeedRequest(db, reader.caller, query, lastEventId ?? query.after)
      visibleTo(reader.caller, request)
      const leave = admit(reader.caller)
      return openFeedStream({
        after: request.after,
        signal: AbortSignal.any([reader.signal, closing.signal]),
        next: (after, waitMs, signal) =>
          waitForEvents({ db, watch }, { ...reader, signal }, { ...request, after, waitMs }),
        onClose: leave,
      })
    },
    close: () => closing.abort(),
  }
}

/** The events after a cursor, as soon as there are some, or none when the time is over. What the reader may see is checked each time. */
async function waitForEvents(
  { db, watch }: { readonly db: Db; readonly watch: SequenceWatch },
  { currentCaller, signal }: FeedReader,
  request: FeedRequest,
): Promise<EventsRead> {
  const endsAtMs = performance.now() + request.waitMs
  const wakeup = newWakeup()
  let filter: EventFilter | undefined
  // Subscribed before the first look, so that nothing comes unseen in between.
  const unsubscribe = watch.subscribe(advance => {
    if (!filter || mayConcern(advance, filter)) wakeup.notify()
  })
  signal.addEventListener('abort', wakeup.notify, { once: true })
  try {
    for (let { after } = request; ; ) {
      filter = visibleTo(await currentCaller(), request)
      const read = await selectEvents(db, { ...filter, after, limit: request.limit })
      const leftMs = endsAtMs - performance.now()
      if (read.events.length > 0 || signal.aborted || (read.isEnd && leftMs <= 0)) return read
      after = read.through
      if (read.isEnd) await wakeup.wait(leftMs)
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wakeup.notify)
  }
}

function mayConcern({ changed }: SequenceAdvance, { organizationId, types }: EventFilter): boolean {
  if (changed === null) return true
  const found = changed.get(organizationId)
  return found !== undefined && (types === undefined || types.some(type => found.has(type)))
}
