import { receiverTls } from '../events/webhooks/destination/trusted-roots.ts'
import type { AttemptDeps } from '../events/webhooks/dispatch/attempt.ts'
import { WebhookDispatcher } from '../events/webhooks/dispatch/dispatcher.ts'
import type { AppContext } from './app-context.ts'
import { startJobs } from './jobs/job.ts'
import { jobs } from './jobs/jobs.ts'
import { openRoleSending } from './role-sending.ts'

/** What an attempt to deliver to a webhook depends on, as the settings say. @throws ConfigError for MAILROOM_WEBHOOK_CA */
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
    tls: config.webhookCa === undefined ? undefined : receiverTls(config.webhookCa),
  }
}

/** Starts what delivers events to webhooks, and notifies owners of those that are disabled. `wakeRelay`: an email may be due. */
export function startWebhooksRole(context: AppContext, wakeRelay: () => void): void {
  const { log, sequenceWatch, onDrain } = context
  const db = context.openPool('webhooks')
  const dispatcher = new WebhookDispatcher({ ...webhookAttempts(context), db, log, sequenceWatch })
  onDrain(() => dispatcher.stop())
  startJobs(jobs.webhooks, { ...context, sending: openRoleSending(context, db, wakeRelay) })
}
