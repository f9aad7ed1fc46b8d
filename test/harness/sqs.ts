import { createHash } from 'node:crypto'

/** A test SQS queue. */
export interface TestSqs {
  readonly url: string
  /** Message bodies in the queue, by receipt handle. */
  readonly waiting: Map<string, string>
  readonly received: object[]
  /** Whether a receive request waits while the queue is empty (long polling). */
  longPolls: boolean
  /** The error response to every request; null: none. */
  error: { readonly status: number; readonly type: string } | null
  put(body: object | string): void
  /** Responds to the waiting requests. */
  release(): void
  close(): Promise<void>
}

/** Starts a server that implements https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html */
export function startSqs(): TestSqs {
  let count = 0
  let pending: (() => void)[] = []
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: respond })
  const sqs: TestSqs = {
    url: `http://127.0.0.1:${server.port}/123456789012/mail`,
    waiting: new Map(),
    received: [],
    longPolls: false,
    error: null,
    put: body => void sqs.waiting.set(`r${count++}`, typeof body === 'string' ? body : JSON.stringify(body)),
    release: () => {
      for (const answer of pending) answer()
      pending = []
    },
    close: () => server.stop(true),
  }

  async function respond(request: Request): Promise<Response> {
    const input = JSON.parse(await request.text())
    if (sqs.error) return Response.json({ __type: sqs.error.type, message: 'no' }, { status: sqs.error.status })
    switch (request.headers.get('x-amz-target')) {
      case 'AmazonSQS.ReceiveMessage':
        sqs.received.push(input)
        if (sqs.longPolls && sqs.waiting.size === 0) await new Promise<void>(resolve => pending.push(resolve))
        return Response.json({ Messages: Array.from(sqs.waiting, toMessage).slice(0, input.MaxNumberOfMessages) })
      case 'AmazonSQS.DeleteMessageBatch':
        for (const { ReceiptHandle } of input.Entries) sqs.waiting.delete(ReceiptHandle)
        return Response.json({ Successful: input.Entries.map(({ Id }: { Id: string }) => ({ Id })), Failed: [] })
      default:
        return Response.json({ __type: 'com.amazonaws.sqs#UnsupportedOperation' }, { status: 400 })
    }
  }
  return sqs
}

function toMessage([receipt, Body]: [string, string]) {
  const MD5OfBody = createHash('md5').update(Body).digest('hex')
  return { MessageId: `m-${receipt}`, ReceiptHandle: receipt, Body, MD5OfBody }
}
