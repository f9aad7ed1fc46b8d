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

/** A queue of provider events, at the provider. */
export interface ProviderEventQueue {
  /**
   * Waits for messages, passes the events of each to `record`, and deletes the messages that were recorded. Those for which
   * `record` threw come again. `done`: there were no messages, or none could be recorded. @throws what the queue throws
   */
  receive(record: (events: readonly ProviderEvent[]) => Promise<void>, signal: AbortSignal): Promise<'more' | 'done'>
  close(): Promise<void>
}

/** The longest wait that SQS allows. */
const waitSeconds = 20
const timeoutMs = 30_000
const maxMessages = 10
/** A message that was not deleted by then comes again. */
const visibilityTimeoutSeconds = 60

/**
 * An SQS queue that is subscribed to SES's topic, with or without raw message delivery. The queue's policy decides who may
 * write to it. It keeps the messages while Mailroom is down.
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
      VisibilityTimeout: visibilityTimeoutSeconds,
    })
    try {
      const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      return (await client.send(command, { abortSignal: within })).Messages ?? []
    } catch (error) {
      if (signal.aborted) return []
      throw error
    }
  }

  /** A message that is not deleted comes again; its events are then known and change nothing. */
  async function remove(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0 || !opened) return
    const { client, sdk } = await opened
    const Entries = messages.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }))
    const { Failed = [] } = await client.send(new sdk.DeleteMessageBatchCommand({ QueueUrl, Entries }), {
      abortSignal: AbortSignal.timeout(timeoutMs),
    })
    if (Failed.length > 0)
      log.warn(
        { provider: 'ses', failed: Failed.length },
        'could not delete recorded messages from the SQS queue; they will come again',
      )
  }

  function read({ Body = '', MessageId }: Message): readonly ProviderEvent[] {
    const events = parseMessage(Body, region, clock)
    if (events) return events
    log.warn({ provider: 'ses', queue_message_id: MessageId }, 'ignored an SQS message that is not an event of SES')
    return []
  }

  return {
    async receive(record, signal) {
      const recorded: Message[] = []
      const messages = await receive(signal)
      for (const message of messages) {
        try {
          await record(read(message))
          recorded.push(message)
        } catch (error) {
          log.error(
            { err: error, queue_message_id: message.MessageId },
            'could not record provider events; the SQS message will come again',
          )
        }
      }
      await remove(recorded)
      return recorded.length > 0 ? 'more' : 'done'
    },
    async close() {
      if (opened) (await opened).client.destroy()
    },
  }
}

/** undefined: not a message of SES or SNS. */
function parseMessage(body: string, region: string, clock: Clock): readonly ProviderEvent[] | undefined {
  const [outer] = parseJsonObjects(Buffer.from(body)) ?? []
  if (!outer) return undefined
  const inner = textAt(outer, 'Type') === 'Notification' ? textAt(outer, 'Message') : null
  if (inner === null) return readSesEvent(outer, region, { receivedAt: clock.now() })
  const events = parseJsonObjects(Buffer.from(inner))
  // SES sends a plain text when it is allowed to publish to the topic.
  if (!events) return inner.startsWith('{') ? undefined : []
  return events.flatMap(event => readSesEvent(event, region, { receivedAt: clock.now() }))
}

/** The SDK is loaded when it is first used. */
async function open(
  region: string,
  queueUrl: string,
): Promise<{ client: SQSClient; sdk: typeof import('@aws-sdk/client-sqs') }> {
  const sdk = await import('@aws-sdk/client-sqs')
  return { client: new sdk.SQSClient({ region, endpoint: new URL(queueUrl).origin, maxAttempts: 1 }), sdk }
}
