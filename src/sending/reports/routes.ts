import { Elysia } from 'elysia'
import { readBody } from '../../api/request-body.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter } from '../../base/observability/metrics.ts'
import { refuse } from '../../base/refusal.ts'
import type { ProviderWebhook } from '../../ports/provider/webhooks/webhook.ts'
import { claimSingleUseToken, type ProviderEventsDeps, recordProviderEvents } from './provider-events.ts'

export interface ProviderRoutesDeps extends ProviderEventsDeps {
  readonly webhooks: readonly ProviderWebhook[]
  readonly log: Log
}

/** The largest batch, in bytes: SendGrid's, the largest that is documented, are below 1 MiB. */
const maxNewsBytes = 4 * 1024 * 1024
/** Larger ones are seldom and take room: so much at once, for all that is being read. */
const maxReadingBytes = 32 * 1024 * 1024

const forgeries = counter('mailroom_provider_news_forged_total', 'Requests that said to be a provider’s news.', [
  'provider',
])

/**
 * Where providers tell what became of emails, outside /v1: no key, but each provider's own proof. What is not proven changes
 * nothing, and is counted, also against its address. 200 once all of it is committed; until then the provider repeats it.
 */
export function providerRoutes(deps: ProviderRoutesDeps) {
  let reading = 0
  return new Elysia({ name: 'provider news' }).post(
    '/provider/:name/events',
    async ({ params, request }) => {
      const webhook = deps.webhooks.find(webhook => webhook.name === params.name)
      if (!webhook) throw refuse('not_found', { message: 'No provider of this name brings its news here.' })
      let room = 0
      try {
        const body = await readBody(request, bytes => {
          room += bytes
          reading += bytes
          if (room > maxNewsBytes || reading > maxReadingBytes)
            throw refuse('payload_too_large', { message: `The request body is larger than ${maxNewsBytes} bytes.` })
        })
        await receiveProviderEvents(deps, webhook, request, Buffer.from(body.buffer, body.byteOffset, body.byteLength))
      } finally {
        reading -= room
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
      deps.log.warn({ provider: webhook.name, why: reading.why }, 'could not read a provider’s news')
      throw refuse('invalid_request', { message: reading.why })
    case 'events': {
      const { singleUseToken, events } = reading
      if (singleUseToken !== null && !(await claimSingleUseToken(deps, webhook.name, singleUseToken, body)))
        throw refuseForged(deps, webhook, 'The signature came before, with another body.')
      return recordProviderEvents(deps, webhook.name, events)
    }
    default:
      return reading satisfies never
  }
}

function refuseForged({ log }: ProviderRoutesDeps, { name }: ProviderWebhook, why: string) {
  forgeries.inc({ provider: name })
  log.warn({ provider: name, why }, 'refused news that a provider is said to bring')
  return refuse('invalid_api_key', { message: why })
}
