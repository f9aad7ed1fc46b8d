import { t } from 'elysia'
import { storeResponse } from '../../../src/api/idempotency/store.ts'
import { api } from '../../../src/api/route.ts'
import type { Clock } from '../../../src/base/clock.ts'
import { type Db, inTransaction } from '../../../src/base/database/database.ts'
import { newId } from '../../../src/base/ids.ts'

const schema = t.Object({ run: t.Number(), subject: t.Optional(t.String()) })

/** Routes for tests of the request pipeline. `work.runs` counts the runs of handlers. */
export function probeRoutes(db: Db, clock: Clock, work: { runs: number; pause?: () => Promise<void> }) {
  return api('probe')
    .post(
      '/v1/probe',
      async ({ body, set }) => {
        await work.pause?.()
        set.status = 201
        return { run: ++work.runs, subject: body.subject }
      },
      {
        scope: { scope: ['email:send', 'inbox:read'], organizationOnly: true },
        body: t.Object({
          subject: t.String({ maxLength: 20 }),
          to: t.Optional(t.Union([t.String(), t.Array(t.String(), { maxItems: 50 })])),
          attachments: t.Optional(t.Array(t.Object({ filename: t.String(), content: t.String() }))),
          count: t.Optional(t.Number()),
          variables: t.Optional(t.Record(t.String(), t.Unknown())),
        }),
        query: t.Object({ flag: t.Optional(t.String()) }),
        response: { 201: schema },
      },
    )
    .post(
      '/v1/probe/stored',
      async ({ caller, reservation }) => {
        const at = clock.now()
        await inTransaction(db, async tx => {
          await tx
            .insertInto('brands')
            .values({
              id: newId('brd'),
              organization_id: caller.organizationId,
              name: 'work',
              slug: `run-${++work.runs}`,
              status: 'pending',
              created_at: at,
              updated_at: at,
            })
            .execute()
          await work.pause?.()
          await storeResponse(tx, reservation, { status: 200, body: { run: work.runs } })
        })
        return { run: work.runs }
      },
      { scope: 'email:send', response: schema },
    )
    .post('/v1/probe/refuses-keys', () => ({ run: ++work.runs }), {
      scope: { scope: [], idempotency: 'refused' },
      response: schema,
    })
    .post('/v1/probe/fails', () => Promise.reject(new Error('secret of the house')), { scope: [] })
    .patch('/v1/probe', ({ body }) => ({ got: body.note ?? 'null' }), {
      scope: [],
      body: t.Object({ note: t.Optional(t.Nullable(t.String())), name: t.Optional(t.String()) }),
    })
    .delete('/v1/probe', () => ({ run: ++work.runs }), { scope: 'inbox:write' })
    .get(
      '/v1/probe/raw',
      () => new Response(Buffer.from([0, 1, 255]), { headers: { 'content-type': 'application/octet-stream' } }),
      {
        scope: 'inbox:read',
      },
    )
    .get('/v1/probe/stream/:size', ({ params }) => streamed(Number(params.size)), {
      scope: 'inbox:read',
      params: t.Object({ size: t.String() }),
    })
    .get('/v1/probe/effect', ({ caller }) => ({ run: caller.scopes.has('inbox:write') ? ++work.runs : work.runs }), {
      scope: 'inbox:read',
    })
    .get('/v1/probe/mismatch', () => ({ run: 'secret' as unknown as number }), { scope: [], response: schema })
}

const block = 64 * 1024

/** A streamed body with a declared length. */
function streamed(size: number): Response {
  let left = size
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await Bun.sleep(0)
      const length = Math.min(left, block)
      left -= length
      if (length > 0) controller.enqueue(new Uint8Array(length).fill(97))
      if (left === 0) controller.close()
    },
  })
  return new Response(body, {
    headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
  })
}
