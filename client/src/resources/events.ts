import { type Api, retryWaitMs, sleep } from '../api.ts'
import type { QueryOf, ResultOf } from '../operations.ts'
import type { CallOptions } from '../options.ts'
import { Pages } from '../pages.ts'

type EventQuery = QueryOf<'get', '/v1/events'>
type EventPage = ResultOf<'get', '/v1/events'>
/** Something that happened; narrow it by its `type`. */
export type MailroomEvent = EventPage['data'][number]

/** Which events: all that the key may see, unless these say otherwise. */
export interface EventFilter extends Omit<EventQuery, 'types' | 'wait'> {
  readonly types?: readonly MailroomEvent['type'][]
}

/** For how long the server holds a request until there is an event, in seconds. */
const waitSeconds = 30

/** What happened, in order. */
export function eventsOf(api: Api) {
  return {
    /** Events up to now: those after the cursor `after`; with `'0'` from the oldest that is kept. */
    list: (filter: EventFilter = {}, options?: CallOptions) =>
      new Pages<EventPage>({
        fetch: (more: object) => api.call('get', '/v1/events', { query: { ...queryOf(filter), ...more } }, options),
        next: page => (page.data.length > 0 ? { after: page.next_after } : undefined),
      }),
    /**
     * Events as they happen, without an end: from now on, or after the cursor `after`. It goes on where it was after a break
     * of the connection or a restart of the server; `signal` ends it.
     */
    watch: (filter: EventFilter = {}, options: Pick<CallOptions, 'signal'> = {}) =>
      new EventStream(api, filter, options.signal),
  }
}

function queryOf({ types, ...filter }: EventFilter): EventQuery {
  return { ...filter, ...(types && { types: types.join(',') }) }
}

/** Events as they happen. `for await` gives each of them, `pages()` those that came together with the cursor after them. */
export class EventStream implements AsyncIterable<MailroomEvent> {
  private readonly api: Api
  private readonly query: EventQuery
  private readonly signal: AbortSignal | undefined
  private after: string | undefined

  constructor(api: Api, filter: EventFilter, signal: AbortSignal | undefined) {
    this.api = api
    this.query = queryOf(filter)
    this.signal = signal
    this.after = filter.after
  }

  /**
   * Pass it as `after` to go on in another process: no event is missed, and those that came together with the last one may
   * come again. undefined: nothing was fetched yet.
   */
  get cursor(): string | undefined {
    return this.after
  }

  /** Each page has at least one event; its `next_after` is the cursor after them. */
  async *pages(): AsyncGenerator<EventPage, void, undefined> {
    for (let failures = 0; ; ) {
      try {
        const page = await this.fetch()
        failures = 0
        if (page.data.length > 0) yield page
        this.after = page.next_after
      } catch (error) {
        const waitMs = retryWaitMs(error, failures++, true)
        if (waitMs === undefined) throw error
        await sleep(waitMs, this.signal)
      }
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<MailroomEvent, void, undefined> {
    for await (const page of this.pages()) yield* page.data
  }

  /** The first answer comes at once, with the cursor: so nothing is missed when the next one does not arrive. */
  private fetch(): Promise<EventPage> {
    const { after, signal } = this
    const wait = after === undefined ? 0 : waitSeconds
    return this.api.call(
      'get',
      '/v1/events',
      { query: { ...this.query, ...(after === undefined ? {} : { after }), wait } },
      { maxRetries: 0, timeoutMs: (wait + 15) * 1000, ...(signal && { signal }) },
    )
  }
}
