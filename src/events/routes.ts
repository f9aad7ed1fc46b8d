import { t } from 'elysia'
import { describeRoute } from '../api/describe.ts'
import { limitParamSchema } from '../api/page.ts'
import { requestContextOf } from '../api/request-context.ts'
import { api } from '../api/route.ts'
import { eventSchema } from './event-json.ts'
import { type EventFeed, type EventPage, type FeedReader, feedRefusals } from './feed.ts'
import { feedRequestRefusals } from './feed-request.ts'

const eventPageSchema = t.Object(
  {
    data: t.Array(eventSchema),
    next_after: t.String({ description: 'Where to go on from, also when `data` is empty.' }),
  },
  { title: 'EventPage' },
)

const description =
  'All that happened after a cursor, in one order, nothing twice and nothing left out. With `Accept: text/event-stream` the same as ' +
  'server-sent events: the `id` of each is the cursor to go on from (also sent as `Last-Event-ID`), a comment comes every 20 seconds, ' +
  'and the stream ends after 10 minutes. Each type needs a scope: `message.*` inbox:read, `email.*` email:read, `suppression.*` ' +
  'suppressions:read, `domain.*` domains:read, `brand.*` brands:read, `webhook.*` webhooks:read; without `types` those that the key ' +
  'may see are given. A cursor whose events have passed their retention time is refused with `cursor_expired` and `oldest_after`.'

/** The feed of events. */
export function eventRoutes(feed: EventFeed) {
  return api('events').get(
    '/v1/events',
    async ({ request, query }): Promise<EventPage> => {
      const reader = readerOf(request)
      if (!acceptsEventStream(request.headers)) return await feed.read(reader, query)
      const stream = await feed.stream(reader, query, request.headers.get('last-event-id'))
      // Otherwise nginx would keep events until it has a buffer full of them.
      const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
      // Elysia passes a Response on as it is.
      return new Response(stream, { headers }) as never
    },
    {
      detail: describeRoute(
        'listEvents',
        'Read events, or wait for them',
        [...feedRequestRefusals, ...feedRefusals],
        description,
      ),
      scope: [],
      query: t.Object(
        {
          after: t.Optional(
            t.String({
              description:
                'Pass on `next_after`; `0`: from the oldest that is kept. Without it: only what comes from now on.',
            }),
          ),
          limit: limitParamSchema,
          types: t.Optional(t.String({ description: 'Only events of these types, separated by commas.' })),
          brand_id: t.Optional(t.String({ description: 'Only events of this brand.' })),
          mailbox_id: t.Optional(t.String({ description: 'Only events of this mailbox.' })),
          wait: t.Optional(
            t.String({
              pattern: '^([0-9]|[1-5][0-9]|60)$',
              expected: 'a whole number of seconds from 0 to 60',
              description: 'How long to wait for an event when there is none, in seconds.',
              documented: { type: 'integer', minimum: 0, maximum: 60, default: 0 },
            }),
          ),
        },
        { additionalProperties: false },
      ),
      response: eventPageSchema,
    },
  )
}

function readerOf(request: Request): FeedReader {
  const { caller, currentCaller } = requestContextOf(request)
  return { caller, currentCaller, signal: request.signal }
}

function acceptsEventStream(headers: Headers): boolean {
  return (headers.get('accept') ?? '').split(',').some(type => type.split(';')[0]?.trim() === 'text/event-stream')
}
