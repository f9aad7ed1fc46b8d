import { secondMs } from '../../base/clock.ts'
import { openWebhookMetrics } from '../../events/webhooks/dispatch/dispatch-metrics.ts'
import { dispatchPollMs } from '../../events/webhooks/dispatch/dispatcher.ts'
import type { SendDeps } from '../../sending/accept/open-sending.ts'
import type { AppContext } from '../app-context.ts'
import { sendDueNotices } from '../webhook-notice.ts'
import type { Job } from './job.ts'

/** What the jobs of the role `webhooks` use of that role's own. */
export interface WebhookJobDeps extends AppContext {
  readonly sending: SendDeps
}

/** The jobs of the role `webhooks`. */
export const webhookJobs: readonly Job<WebhookJobDeps>[] = [
  {
    name: 'webhooks',
    intervalMs: dispatchPollMs,
    does: 'delivers events to the webhooks of organizations',
    startedBy: 'startWebhooksRole',
  },
  {
    name: 'webhook-notices',
    intervalMs: 2 * secondMs,
    does: 'emails the owners of organizations whose webhooks were disabled',
    open: deps => signal => sendDueNotices(deps, signal),
  },
  {
    name: 'webhook-metrics',
    intervalMs: 10 * secondMs,
    does: 'shows in metrics how many webhooks fail or are disabled, and how far they are behind',
    open: openWebhookMetrics,
  },
]
