import { Elysia } from 'elysia'
import { readBody } from '../../api/request-body.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter } from '../../base/observability/metrics.ts'
import { refuse } from '../../base/refusal.ts'
import type { ProviderWebhook } from '../../ports/provider/webhooks/webhook.ts'
import {
  claimSingleUseToken,
  type ProviderEventCount,
  type ProviderEventsDeps,
  recordProviderEvents,
} from './provider-events.ts'

export interface ProviderRoutesDeps extends ProviderEventsDeps {
  readonly webhooks: readonly ProviderWebhook[]
  readonly log: Log
}

/** The largest batch, in bytes: SendGrid's, the largest that is documented, are below 1 MiB. */
const maxBodyBytes = 4 * 1024 * 1024
/** The most of all bodies that are being read at the same time, in bytes. */
const maxBodiesBytes = 32 * 1024 * 1024

const forgeries = counter(
  'mailroom_provider_news_forged_total',
  'Provider webhook requests that were refused because they did not prove to be the provider’s.',
  ['provider'],
)

/** Webhook requests that this process refused since it began, because they did not prove to be the provider's. */
export async function countForgeries(): Promise<readonly ProviderEventCount[]> {
  const { values } = await forgeries.get()
  return values.map(({ labels, value }) => ({ provider: String(labels.provider), result: 'refused', count: value }))
}

/**
 * The providers' webhooks, outside /v1: authenticated by each provider's own proof, not by an API key. A request without
 * proof changes nothing and is counted, also against the rate limit of its address. 200 once all events are committed; until
 * then the provider repeats the request.
 */
export function providerRoutes(deps: ProviderRoutesDeps) {
  let readingBytes = 0
  return new Elysia({ name: 'provider webhooks' }).post(
    '/provider/:name/events',
    async ({ params, request }) => {
      const webhook = deps.webhooks.find(webhook => webhook.name === params.name)
      if (!webhook) throw refuse('not_found', { message: 'There is no webhook for a provider of this name.' })
      let bodyBytes = 0
      try {
        const body = await readBody(request, bytes => {
          bodyBytes += bytes
          readingBytes += bytes
          if (bodyBytes > maxBodyBytes || readingBytes > maxBodiesBytes)
            throw refuse('payload_too_large', { message: `The request body is larger than ${maxBodyBytes} bytes.` })
        })
        await receiveProviderEvents(deps, webhook, request, Buffer.from(body.buffer, body.byteOffset, body.byteLength))
      } finally {
        readingBytes -= bodyBytes
      }
      return { status: 'ok' }
    },
    { parse: 'none' },
  )
}

async function receiveProviderEvents(
  deps: ProviderRoutesDeps,
  webhook: ProviderWebhook,
  request: Request,
  body: Buffer,
) {
  const { headers, url } = request
  const receivedAt = deps.clock.now()
  const reading = await webhook.read({ headers, query: new URL(url).searchParams, body, receivedAt })
  switch (reading.kind) {
    case 'forged':
      throw refuseForged(deps, webhook, reading.why)
    case 'malformed':
      deps.log.warn(
        { provider: webhook.name, why: reading.why },
        'refused a malformed provider webhook; the provider sends it again',
      )
      throw refuse('invalid_request', { message: reading.why })
    case 'events': {
      const { singleUseToken, events } = reading
      if (singleUseToken !== null && !(await claimSingleUseToken(deps, webhook.name, singleUseToken, body)))
        throw refuseForged(deps, webhook, 'The signature was used before, with another body.')
      return recordProviderEvents(deps, webhook.name, events)
    }
    default:
      return reading satisfies never
  }
}

function refuseForged({ log }: ProviderRoutesDeps, { name }: ProviderWebhook, why: string) {
  forgeries.inc({ provider: name })
  log.warn({ provider: name, why }, 'refused a provider webhook that is not proven to be the provider’s')
  return refuse('invalid_api_key', { message: why })
}
