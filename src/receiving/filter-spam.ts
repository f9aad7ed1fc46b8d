import type { FailureLog } from '../base/observability/failure-log.ts'
import { counter, timed } from '../base/observability/metrics.ts'
import { findClientName } from '../ports/resolver/client-name.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import type { SpamFilter, SpamFindings } from '../ports/spam-filter/port.ts'
import type { IncomingMessage } from './incoming-message.ts'

export interface FilterDeps {
  /** Absent: no message is checked. */
  readonly spamFilter?: SpamFilter | undefined
  /** Asked for the name of the client; absent: the filter is told none. */
  readonly resolver?: Resolver | undefined
  /** Logs that the filter does not answer, and that it does again. */
  readonly spamFilterFailures?: FailureLog
}

const nameTimeoutMs = 2000

const checks = counter('mailroom_spam_checks_total', 'Messages given to the spam filter, by what it found.', [
  'outcome',
])

/** What the spam filter finds; null: there is none, or it cannot tell. Never rejects, and waits for no filter that is away. */
export async function filterSpam(mail: IncomingMessage, deps: FilterDeps): Promise<SpamFindings | null> {
  const { spamFilter } = deps
  return spamFilter ? await timed('in', 'filter_spam', () => askFilter(mail, spamFilter, deps)) : null
}

async function askFilter(
  mail: IncomingMessage,
  filter: SpamFilter,
  { resolver, spamFilterFailures }: FilterDeps,
): Promise<SpamFindings | null> {
  const { id, content, remoteIp, helo, mailFrom } = mail
  const check = await filter.check({
    ...{ id, content, remoteIp, helo, mailFrom },
    clientName: resolver ? await findClientName(resolver, remoteIp, AbortSignal.timeout(nameTimeoutMs)) : null,
    recipients: mail.recipients.map(recipient => recipient.address),
  })
  switch (check.kind) {
    case 'checked': {
      const { isSpam, score, required, symbols } = check
      checks.inc({ outcome: isSpam ? 'spam' : 'ham' })
      spamFilterFailures?.succeeded()
      return { isSpam, score, required, symbols }
    }
    case 'unchecked':
      checks.inc({ outcome: check.isUnavailable ? 'unavailable' : 'refused' })
      if (check.isUnavailable) spamFilterFailures?.failed(check.why)
      return null
    default:
      return check satisfies never
  }
}
