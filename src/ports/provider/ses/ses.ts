import type { Provider, Submission, SubmissionOutcome } from '../port.ts'
import { createThrottle } from '../throttle.ts'
import { createSesClient } from './client.ts'
import { describeError, outcomeOfError } from './errors.ts'
import { sesIdentities } from './identities.ts'
import { messageIdDomain, sesEmailIdTag } from './message-id.ts'

export interface SesOptions {
  readonly region: string
  /** Names what SES does with the news of what is sent; null: the account's own, or nothing. */
  readonly configurationSet: string | null
  /** Submissions a second, at most; null: no limit. */
  readonly perSecond: number | null
  /** Does news of what was sent come to us? */
  readonly receivesEvents: boolean
  /** Where SES is reached, if not where the region has it. */
  readonly endpoint: string | undefined
}

const submissionsAtOnce = 10
/** What waits for its turn is at most so far behind, in seconds. */
const maxBehindSeconds = 10
const troubleMs = 10_000

/**
 * Amazon SES by its API v2, with the credentials that AWS's own tools would find. It replaces Message-ID and Date, and the
 * reverse-path is below its own domain or the identity's custom MAIL FROM domain, whose MX is SES's: notifications never
 * reach us. https://docs.aws.amazon.com/ses/latest/dg/send-email-raw.html
 */
export function sesProvider(options: SesOptions): Provider {
  const { region, perSecond } = options
  const pace = createThrottle(perSecond)
  const open = createSesClient({ ...options, maxConnections: submissionsAtOnce + 1 })

  async function submitOne(submission: Submission, recipient: string): Promise<SubmissionOutcome> {
    try {
      const { client, sdk } = await open()
      const command = new sdk.SendEmailCommand({
        // Without one SES goes by the header.
        ...(submission.mailFrom !== '' && { FromEmailAddress: submission.mailFrom }),
        Destination: { ToAddresses: [recipient] },
        Content: { Raw: { Data: submission.message } },
        EmailTags: [{ Name: sesEmailIdTag, Value: submission.emailId }],
        ...(options.configurationSet !== null && { ConfigurationSetName: options.configurationSet }),
      })
      const { MessageId: id } = await client.send(command, { abortSignal: submission.signal })
      return taken(id ?? null)
    } catch (error) {
      return outcomeOfError(error)
    }
  }

  function taken(id: string | null): SubmissionOutcome {
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
        perSecond === null ? submissionsAtOnce : Math.min(submissionsAtOnce, perSecond * maxBehindSeconds),
    },
    async submit(submission) {
      await pace(submission.signal)
      return Promise.all(submission.recipients.map(recipient => submitOne(submission, recipient)))
    },
    async checkHealth() {
      try {
        const { client, sdk } = await open()
        const account = await client.send(new sdk.GetAccountCommand({}), {
          abortSignal: AbortSignal.timeout(troubleMs),
        })
        if (account.EnforcementStatus === 'SHUTDOWN') return 'SES has suspended sending of the account'
        return account.SendingEnabled === false ? 'sending of the account is paused' : null
      } catch (error) {
        return describeError(error)
      }
    },
    identities: sesIdentities(open, options),
    close: () => open.close(),
  }
}
