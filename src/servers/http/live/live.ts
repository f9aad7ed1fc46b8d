import { isLive } from '../../../accounts/sessions/authenticate.ts'
import { type Clock, millisecondsOf } from '../../../base/clock.ts'
import { startJob } from '../../../base/concurrency/background-job.ts'
import type { Db } from '../../../base/database/database.ts'
import type { Id } from '../../../base/ids.ts'
import type { Log } from '../../../base/observability/log.ts'
import { gauge } from '../../../base/observability/metrics.ts'
import { refuse } from '../../../base/refusal.ts'
import type { SequenceWatch } from '../../../events/sequence-watch.ts'
import { collectChanges } from './changes.ts'
import { type EventStream, openEventStream } from './event-stream.ts'
import { selectListeners } from './table.ts'
import { type LiveScope, topicsOf } from './topics.ts'

export interface LiveDeps {
  readonly db: Db
  readonly watch: SequenceWatch
  readonly clock: Clock
  readonly log: Log
}

/** Who listens, to what. */
export interface ListenRequest {
  readonly sessionId: Id<'ses'>
  readonly userId: Id<'usr'>
  readonly scope: LiveScope
  /** Has the page heard before, and perhaps missed something since? */
  readonly isReconnecting: boolean
}

/**
 * Tells pages that something changed, and never what: they load it again. One loop for all pages of this process rings, once a
 * second, for what the sequence of events has brought, and only while a page listens.
 */
export interface Live {
  /** The body of server-sent events. @throws Refusal `rate_limited` past the limits, `unavailable` while the process stops */
  listen(request: ListenRequest): ReadableStream<Uint8Array>
  /** Ends all streams at once; the pages connect to another process, or to the next one. */
  close(): Promise<void>
}

/** The refusals of {@link Live.listen}. */
export const liveRefusals = ['rate_limited', 'unavailable'] as const

/** Streams of one person, and of all. */
const maxOfPerson = 12
const maxStreams = 1000

export const livePollMs = 1000
const beatMs = 15_000
/** A session that was ended hears nothing more after so long. */
const checkMs = 5000

interface Listener extends ListenRequest {
  readonly stream: EventStream
  /** Was it told what changed before it began to listen? */
  isUpToDate: boolean
}

const streamCount = gauge('mailroom_live_streams', 'Pages of the dashboard that are told of changes.', [])

export function openLive({ db, watch, clock, log }: LiveDeps): Live {
  const listeners = new Set<Listener>()
  const collector = collectChanges(db, watch)
  let beatAt = 0
  let checkAt = 0
  let isClosed = false

  /** Sends what changed since the last time to each page; to a new one, what changed lately, and to one that was away, all. */
  async function poll(): Promise<void> {
    const current = [...listeners]
    const now = clock.now()
    const changes = await collector.collect(new Set(current.map(listener => listener.scope)), now)
    const id = String(millisecondsOf(now))
    for (const listener of current) {
      const { scope, stream, isUpToDate, isReconnecting } = listener
      listener.isUpToDate = true
      const missed = () => (isReconnecting ? topicsOf(scope) : collector.recent(scope, now))
      const topics = isUpToDate ? (changes.get(scope) ?? []) : await missed()
      if (topics.length > 0) stream.send(topics, id)
    }
  }

  /** Ends the streams of sessions that have ended, and of people who are no longer members or operators. */
  async function endRevoked(): Promise<void> {
    const current = [...listeners]
    const now = clock.now()
    const rows = await selectListeners(db, [...new Set(current.map(({ sessionId }) => sessionId))])
    const allowed = new Set(
      rows
        .filter(row => isLive(row, now))
        .flatMap(row => [
          `${row.session_id} ${row.organization_id}`,
          ...(row.is_operator === 1 ? [`${row.session_id} instance`] : []),
        ]),
    )
    for (const { sessionId, scope, stream } of current) if (!allowed.has(`${sessionId} ${scope}`)) stream.close()
  }

  const job = startJob({ name: 'live-updates', intervalMs: livePollMs, log }, async () => {
    if (listeners.size === 0) {
      collector.rest()
      return 'done'
    }
    const now = performance.now()
    if (now >= beatAt) {
      beatAt = now + beatMs
      for (const { stream } of listeners) stream.beat()
    }
    if (now >= checkAt) {
      checkAt = now + checkMs
      await endRevoked()
    }
    await poll()
    return 'done'
  })

  return {
    listen(request) {
      if (isClosed) throw refuse('unavailable', { message: 'The server is restarting.', retryAfterSeconds: 2 })
      const ofPerson = [...listeners].filter(({ userId }) => userId === request.userId).length
      if (listeners.size >= maxStreams || ofPerson >= maxOfPerson)
        throw refuse('rate_limited', {
          message: `At most ${maxOfPerson} pages of a person, and ${maxStreams} of all, are told of changes at once.`,
          retryAfterSeconds: 60,
        })
      const stream = openEventStream(() => {
        listeners.delete(listener)
        streamCount.set(listeners.size)
      })
      const listener: Listener = { ...request, stream, isUpToDate: false }
      listeners.add(listener)
      streamCount.set(listeners.size)
      return stream.body
    },
    async close() {
      isClosed = true
      for (const { stream } of [...listeners]) stream.close()
      await job.stop()
      collector.rest()
    },
  }
}
