import { receiverTls } from '../events/webhooks/destination/trusted-roots.ts'
import type { AttemptDeps } from '../events/webhooks/dispatch/attempt.ts'
import { WebhookDispatcher } from '../events/webhooks/dispatch/dispatcher.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import { openSending } from '../sending/accept/open-sending.ts'
import type { AppContext } from './app-context.ts'
import { jobs, startJobs } from './jobs.ts'
import { notifyOwners } from './webhook-notice.ts'

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

/** Starts what delivers events to webhooks. `wakeRelay` tells the relay of this process that an email may be due. */
export function startWebhooksRole(context: AppContext, wakeRelay: () => void): void {
  const { config, clock, log, provider, sequenceWatch, onDrain, onStop } = context
  const db = context.openPool('webhooks')
  const sending = openSending({
    db,
    blobs: mysqlBlobs(db, clock),
    clock,
    provider: provider.traits.name,
    publicUrl: config.publicUrl ?? '',
    wake: wakeRelay,
  })
  onStop(() => sending.renderer.close())
  const dispatcher = new WebhookDispatcher({
    ...webhookAttempts(context),
    db,
    log,
    sequenceWatch,
    onDisabled: (webhook, reason) => notifyOwners({ db, log, sending }, webhook, reason),
  })
  onDrain(() => dispatcher.stop())
  startJobs(jobs.webhooks, context)
}
