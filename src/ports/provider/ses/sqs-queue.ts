import type { Message, SQSClient } from '@aws-sdk/client-sqs'
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/observability/log.ts'
import { parseJsonObjects, textAt } from '../webhooks/request-fields.ts'
import type { ProviderEvent } from '../webhooks/webhook.ts'
import { readSesEvent } from './events.ts'

export interface SesQueueOptions {
  readonly queueUrl: string
  readonly region: string
  readonly clock: Clock
  readonly log: Log
}

/** News that waits for us at the provider's. */
export interface ProviderEventQueue {
  /**
   * Waits for news, hands on each message's, and takes from the queue what `take` did not throw at: the rest comes again.
   * `done`: there was nothing, or nothing could be taken. @throws what the queue does
   */
  receive(take: (news: readonly ProviderEvent[]) => Promise<void>, signal: AbortSignal): Promise<'more' | 'done'>
  close(): Promise<void>
}

/** The longest that SQS has. */
const waitSeconds = 20
const answerMs = 30_000
const maxMessages = 10
/** What was not taken by then comes again. */
const invisibleSeconds = 60

/**
 * A queue of SQS that SES's topic fills, wrapped by SNS or raw. Who may write to it its own policy says. Nothing is lost
 * while we are away.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
 */
export function sqsEventQueue({ queueUrl: QueueUrl, region, clock, log }: SesQueueOptions): ProviderEventQueue {
  let opened: ReturnType<typeof open> | undefined

  async function receive(signal: AbortSignal): Promise<readonly Message[]> {
    opened ??= open(region, QueueUrl)
    const { client, sdk } = await opened
    const command = new sdk.ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: maxMessages,
      WaitTimeSeconds: waitSeconds,
      VisibilityTimeout: invisibleSeconds,
    })
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
      return (await client.send(command, { abortSignal: within })).Messages ?? []
    } catch (error) {
      if (signal.aborted) return []
      throw error
    }
  }

  /** What stays by mistake comes again, and changes nothing then. */
  async function remove(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0 || !opened) return
    const { client, sdk } = await opened
    const Entries = messages.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }))
    const { Failed = [] } = await client.send(new sdk.DeleteMessageBatchCommand({ QueueUrl, Entries }), {
      abortSignal: AbortSignal.timeout(answerMs),
    })
    if (Failed.length > 0) log.warn({ provider: 'ses', failed: Failed.length }, 'could not take news off the queue')
  }

  function read({ Body = '', MessageId }: Message): readonly ProviderEvent[] {
    const news = newsIn(Body, region, clock)
    if (news) return news
    log.warn({ provider: 'ses', queue_message_id: MessageId }, 'could not read a provider’s news')
    return []
  }

  return {
    async receive(take, signal) {
      const taken: Message[] = []
      const messages = await receive(signal)
      for (const message of messages) {
        try {
          await take(read(message))
          taken.push(message)
        } catch (error) {
          log.error({ err: error, queue_message_id: message.MessageId }, 'could not record a provider’s news')
        }
      }
      await remove(taken)
      return taken.length > 0 ? 'more' : 'done'
    },
    async close() {
      if (opened) (await opened).client.destroy()
    },
  }
}

/** Undefined: it is in no form that SES or SNS has. */
function newsIn(body: string, region: string, clock: Clock): readonly ProviderEvent[] | undefined {
  const [outer] = parseJsonObjects(Buffer.from(body)) ?? []
  if (!outer) return undefined
  const inner = textAt(outer, 'Type') === 'Notification' ? textAt(outer, 'Message') : null
  if (inner === null) return readSesEvent(outer, region, { receivedAt: clock.now() })
  const events = parseJsonObjects(Buffer.from(inner))
  // SES says in plain text that it may publish.
  if (!events) return inner.startsWith('{') ? undefined : []
  return events.flatMap(event => readSesEvent(event, region, { receivedAt: clock.now() }))
}

/** Loaded when it is first used. */
async function open(
  region: string,
  queueUrl: string,
): Promise<{ client: SQSClient; sdk: typeof import('@aws-sdk/client-sqs') }> {
  const sdk = await import('@aws-sdk/client-sqs')
  return { client: new sdk.SQSClient({ region, endpoint: new URL(queueUrl).origin, maxAttempts: 1 }), sdk }
}
