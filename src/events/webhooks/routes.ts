import { t } from 'elysia'
import { recordCallerEntry } from '../../accounts/audit/audit.ts'
import { idParamsSchema, oneOf } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { ifUpdatedAtRefusals } from '../../api/if-updated-at.ts'
import { cursorRefusals, limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import { listDeliveries, redeliverRefusals, requireEnabled, retryDelivery } from './deliveries/deliveries.ts'
import { readReplay, replayEvents, replayRefusals } from './deliveries/replay.ts'
import {
  deliveryPageSchema,
  deliverySchema,
  deliveryStatuses,
  replayResultSchema,
  replaySchema,
} from './deliveries/schema.ts'
import type { AttemptDeps } from './dispatch/attempt.ts'
import { testWebhook } from './dispatch/test-delivery.ts'
import {
  createdWebhookSchema,
  newWebhookSchema,
  rotatedSecretSchema,
  rotationSchema,
  webhookChangeSchema,
  webhookSchema,
  webhookTestSchema,
} from './schema.ts'
import {
  changeWebhook,
  createWebhook,
  createWebhookRefusals,
  getWebhook,
  listWebhooks,
  loadWebhook,
  removeWebhook,
  rotateSecret,
  type WebhookDeps,
  webhookRefusals,
  webhookWriteRefusals,
} from './webhooks.ts'

const defaultGraceSeconds = 86_400

/** The operations on webhooks, and on what was delivered to them. */
export function webhookRoutes(deps: WebhookDeps & AttemptDeps) {
  const { db, clock } = deps
  return api('webhooks')
    .post(
      '/v1/webhooks',
      ({ caller, body, set }) => {
        set.status = 201
        return createWebhook(deps, caller, body)
      },
      {
        detail: describeRoute('createWebhook', 'Create a webhook', createWebhookRefusals),
        // A stored response would hold the secret.
        scope: { scope: 'webhooks:write', idempotency: 'refused' },
        body: newWebhookSchema,
        response: { 201: createdWebhookSchema },
      },
    )
    .get('/v1/webhooks', async ({ caller }) => ({ data: await listWebhooks(deps, caller) }), {
      detail: describeRoute('listWebhooks', 'List webhooks'),
      scope: 'webhooks:read',
      response: t.Object({ data: t.Array(webhookSchema) }),
    })
    .get('/v1/webhooks/:id', ({ caller, params }) => getWebhook(deps, caller, params.id), {
      detail: describeRoute('getWebhook', 'Get a webhook', webhookRefusals),
      scope: 'webhooks:read',
      params: idParamsSchema,
      response: webhookSchema,
    })
    .patch(
      '/v1/webhooks/:id',
      ({ caller, params, body, reservation }) => changeWebhook(deps, caller, params.id, body, reservation),
      {
        detail: describeRoute('updateWebhook', 'Change, disable or enable a webhook', [
          ...webhookWriteRefusals,
          ...ifUpdatedAtRefusals,
        ]),
        scope: 'webhooks:write',
        params: idParamsSchema,
        body: webhookChangeSchema,
        response: webhookSchema,
      },
    )
    .delete(
      '/v1/webhooks/:id',
      ({ caller, params, reservation }) => removeWebhook(deps, caller, params.id, reservation),
      {
        detail: describeRoute('deleteWebhook', 'Delete a webhook', webhookRefusals),
        scope: 'webhooks:write',
        params: idParamsSchema,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
    .post(
      '/v1/webhooks/:id/rotate-secret',
      ({ caller, params, body }) => rotateSecret(deps, caller, params.id, body.grace_seconds ?? defaultGraceSeconds),
      {
        detail: describeRoute('rotateWebhookSecret', 'Give a webhook a new secret', webhookRefusals),
        scope: { scope: 'webhooks:write', idempotency: 'refused' },
        params: idParamsSchema,
        body: rotationSchema,
        response: rotatedSecretSchema,
      },
    )
    .post('/v1/webhooks/:id/test', ({ caller, params }) => testWebhook(deps, caller, params.id), {
      detail: describeRoute('testWebhook', 'Send a test event, also to a disabled webhook', webhookRefusals),
      scope: { scope: 'webhooks:write', idempotency: 'refused' },
      params: idParamsSchema,
      response: webhookTestSchema,
    })
    .get('/v1/webhooks/:id/deliveries', ({ caller, params, query }) => listDeliveries(deps, caller, params.id, query), {
      detail: describeRoute('listWebhookDeliveries', 'List the deliveries of a webhook', [
        ...webhookRefusals,
        ...cursorRefusals,
      ]),
      scope: 'webhooks:read',
      params: idParamsSchema,
      query: t.Object({
        limit: limitParamSchema,
        cursor: t.Optional(t.String({ description: '`next_cursor` of the page before.' })),
        status: t.Optional(oneOf(deliveryStatuses, { description: 'Only those with this status.' })),
        since: t.Optional(t.String({ description: 'Only those with an attempt at or after this instant.' })),
      }),
      response: deliveryPageSchema,
    })
    .post(
      '/v1/webhooks/:id/deliveries/:delivery_id/retry',
      ({ caller, params, reservation }) => retryDelivery(deps, caller, params.id, params.delivery_id, reservation),
      {
        detail: describeRoute('retryWebhookDelivery', 'Make a delivery again now', redeliverRefusals),
        scope: 'webhooks:write',
        params: t.Object({ id: t.String({ minLength: 1 }), delivery_id: t.String({ minLength: 1 }) }),
        response: deliverySchema,
      },
    )
    .post(
      '/v1/webhooks/:id/replay',
      async ({ caller, params, body }) => {
        const webhook = await loadWebhook(db, caller, params.id)
        requireEnabled(webhook)
        const replay = readReplay(body, clock.now())
        return replayEvents(deps, webhook, replay, (tx, replayed) =>
          recordCallerEntry(tx, caller, clock, {
            action: 'webhook.replay',
            subject: webhook.id,
            detail: { from: body.from, to: body.to, only: body.only, replayed },
          }),
        )
      },
      {
        detail: describeRoute('replayWebhook', 'Deliver past events again, with the same webhook-id', [
          ...redeliverRefusals,
          ...replayRefusals,
        ]),
        scope: 'webhooks:write',
        params: idParamsSchema,
        body: replaySchema,
        response: replayResultSchema,
      },
    )
}
