import { readFileSync } from 'node:fs'
import type { AttemptDeps } from '../events/webhooks/dispatch/attempt.ts'
import { WebhookDispatcher } from '../events/webhooks/dispatch/dispatcher.ts'
import type { AppContext } from './app-context.ts'
import { jobs, startJobs } from './jobs.ts'

/** What an attempt to deliver to a webhook depends on, as the settings say. */
export function webhookAttempts({
  config,
  clock,
  secrets,
  resolver,
}: Pick<AppContext, 'config' | 'clock' | 'secrets' | 'resolver'>): AttemptDeps {
  return {
    clock,
    secrets,
    resolver,
    policy: { allowedNetworks: config.webhookAllow ?? [], allowsHttp: config.webhookHttp },
    extraCa: config.webhookCa === undefined ? undefined : readFileSync(config.webhookCa, 'utf8'),
  }
}

/** Starts what delivers events to webhooks. */
export function startWebhooksRole(context: AppContext): void {
  const { log, onDrain, sequenceWatch } = context
  const dispatcher = new WebhookDispatcher({
    ...webhookAttempts(context),
    db: context.openPool('webhooks'),
    log,
    sequenceWatch,
    onDisabled: async () => undefined,
  })
  onDrain(() => dispatcher.stop())
  startJobs(jobs.webhooks, context)
}
