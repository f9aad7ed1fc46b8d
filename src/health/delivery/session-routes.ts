import { t } from 'elysia'
import { dateTimeSchema, oneOf } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { type Clock, minuteMs, toIso } from '../../base/clock.ts'
import { cachedResult } from '../../base/concurrency/cached-result.ts'
import type { Db } from '../../base/database/database.ts'
import type { Provider } from '../../ports/provider/port.ts'
import { countProviderEvents } from '../../sending/reports/provider-events.ts'
import { countForgeries } from '../../sending/reports/routes.ts'
import { countDeliveries } from './delivery.ts'

export interface DeliveryRoutesDeps {
  readonly db: Db
  readonly clock: Clock
  readonly provider: Provider
  /** The names of the providers whose webhooks are configured. */
  readonly webhooks: readonly string[]
}

const deliveriesMaxAgeMs = 5 * minuteMs

const deliverySchema = t.Object({
  provider: t.Object({
    name: t.String(),
    reports: oneOf(['dsn', 'webhook', 'none'], { description: 'How it reports what became of an email.' }),
    return_path: oneOf(['ours', 'theirs']),
    message_id: oneOf(['kept', 'replaced']),
    max_concurrent_submissions: t.Integer(),
  }),
  days: t.Array(
    t.Object({
      day: t.String({ format: 'date' }),
      unconfirmed: t.Integer(),
      delivered: t.Integer(),
      bounced: t.Integer(),
      complained: t.Integer(),
      failed: t.Integer(),
    }),
  ),
  counted_at: dateTimeSchema,
  webhooks: t.Array(
    t.Object({
      provider: t.String(),
      is_configured: t.Boolean(),
      recorded: t.Integer(),
      repeated: t.Integer(),
      unknown: t.Integer({ description: 'Events of no email of this instance.' }),
      refused: t.Integer({ description: 'Requests that did not prove to be of the provider.' }),
    }),
    { description: 'What this process got since it began.' },
  ),
  process_started_at: dateTimeSchema,
})

/** What the provider is, what it reports, and what became of the emails of the last days, for operators. */
export function deliverySessionRoutes({ db, clock, provider, webhooks }: DeliveryRoutesDeps) {
  const startedAt = clock.now()
  const deliveries = cachedResult(deliveriesMaxAgeMs, async () => ({
    days: [...(await countDeliveries({ db, clock }))],
    counted_at: toIso(clock.now()),
  }))
  return sessionApi('instance delivery').get(
    '/app/api/instance/delivery',
    async () => {
      const { name, reports, returnPath, messageId, maxConcurrentSubmissions } = provider.traits
      const [counted, intake] = await Promise.all([deliveries(), countIntake(webhooks)])
      return {
        provider: {
          ...{ name, reports, return_path: returnPath, message_id: messageId },
          max_concurrent_submissions: maxConcurrentSubmissions,
        },
        ...counted,
        webhooks: intake,
        process_started_at: toIso(startedAt),
      }
    },
    {
      operator: 'session',
      response: deliverySchema,
      detail: describeRoute('getDelivery', 'Get the provider, and sent against confirmed emails by day'),
    },
  )
}

async function countIntake(configured: readonly string[]) {
  const counts = [...(await countProviderEvents()), ...(await countForgeries())]
  const providers = new Set([...configured, ...counts.map(count => count.provider)])
  return Array.from(providers, provider => {
    const countOf = (result: string) =>
      counts.find(count => count.provider === provider && count.result === result)?.count ?? 0
    return {
      provider,
      is_configured: configured.includes(provider),
      recorded: countOf('recorded'),
      repeated: countOf('repeated'),
      unknown: countOf('unknown'),
      refused: countOf('refused'),
    }
  })
}
