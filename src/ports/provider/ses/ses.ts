import { type Provider, type Submission, type SubmissionOutcome, withdrawnOutcome } from '../port.ts'
import { createThrottle } from '../throttle.ts'
import { createSesClient } from './client.ts'
import { describeError, outcomeOfError } from './errors.ts'
import { sesIdentities } from './identities.ts'
import { messageIdDomain, sesEmailIdTag } from './message-id.ts'

export interface SesOptions {
  readonly region: string
  /** The configuration set, which says where SES publishes events; null: the account's default, if any. */
  readonly configurationSet: string | null
  /** Submissions a second, at most; null: no limit. */
  readonly perSecond: number | null
  /** Do SES's events reach us, by a queue or a webhook? */
  readonly receivesEvents: boolean
  /** URL of the SES API; undefined: that of the region. */
  readonly endpoint: string | undefined
}

const submissionsAtOnce = 10
/** Submissions that wait for the throttle take no longer than this. */
const maxThrottleSeconds = 10
const healthCheckMs = 10_000

/**
 * Amazon SES by its API v2, with the credentials that the AWS SDK finds. SES replaces Message-ID and Date. The reverse-path
 * that recipients see is below SES's domain or the identity's custom MAIL FROM domain; the MX of both is SES, so delivery status
 * notifications never reach us. https://docs.aws.amazon.com/ses/latest/dg/send-email-raw.html
 */
export function sesProvider(options: SesOptions): Provider {
  const { region, perSecond } = options
  const throttle = createThrottle(perSecond)
  const open = createSesClient({ ...options, maxConnections: submissionsAtOnce + 1 })

  async function submitOne(submission: Submission, recipient: string): Promise<SubmissionOutcome> {
    try {
      const { client, sdk } = await open()
      const command = new sdk.SendEmailCommand({
        // For the null reverse-path SES takes the sender from the header.
        ...(submission.mailFrom !== '' && { FromEmailAddress: submission.mailFrom }),
        Destination: { ToAddresses: [recipient] },
        Content: { Raw: { Data: submission.message } },
        EmailTags: [{ Name: sesEmailIdTag, Value: submission.emailId }],
        ...(options.configurationSet !== null && { ConfigurationSetName: options.configurationSet }),
      })
      if (!submission.mayBeAccepted()) return withdrawnOutcome('final-dot')
      const { MessageId: id } = await client.send(command, { abortSignal: submission.signal })
      return accepted(id ?? null)
    } catch (error) {
      return outcomeOfError(error)
    }
  }

  function accepted(id: string | null): SubmissionOutcome {
    return {
      kind: 'accepted',
      reply: { phase: 'final-dot', code: 250, enhancedCode: null, text: id === null ? 'Ok' : `Ok ${id}` },
      providerMessageId: id,
      wireMessageId: id === null ? null : `${id}@${messageIdDomain(region)}`,
    }
  }

  return {
    traits: {
      name: 'ses',
      returnPath: 'theirs',
      messageId: 'replaced',
      unsignedHeaders: ['message-id', 'date'],
      reports: options.receivesEvents ? 'webhook' : 'none',
      smtputf8: false,
      multipleRecipients: false,
      maxConcurrentSubmissions:
        perSecond === null ? submissionsAtOnce : Math.min(submissionsAtOnce, perSecond * maxThrottleSeconds),
    },
    async submit(submission) {
      await throttle(submission.signal)
      return Promise.all(submission.recipients.map(recipient => submitOne(submission, recipient)))
    },
    async checkHealth() {
      try {
        const { client, sdk } = await open()
        const account = await client.send(new sdk.GetAccountCommand({}), {
          abortSignal: AbortSignal.timeout(healthCheckMs),
        })
        if (account.EnforcementStatus === 'SHUTDOWN') return 'SES has suspended sending for the account'
        return account.SendingEnabled === false ? 'sending is paused for the account' : null
      } catch (error) {
        return describeError(error)
      }
    },
    identities: sesIdentities(open, options),
    close: () => open.close(),
  }
}
