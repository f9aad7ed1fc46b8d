import { createHash } from 'node:crypto'

/** A queue of the test. */
export interface TestSqs {
  readonly url: string
  /** Bodies that wait, by their receipt. */
  readonly waiting: Map<string, string>
  readonly received: object[]
  /** Does it hold a question back for which it has nothing, as long polling does? */
  longPolls: boolean
  /** Given instead of an answer; null: answers. */
  error: { readonly status: number; readonly type: string } | null
  put(body: object | string): void
  /** Answers the questions that it holds back. */
  release(): void
  close(): Promise<void>
}

/** Answers as https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html says. */
export function startSqs(): TestSqs {
  let count = 0
  let held: (() => void)[] = []
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: respond })
  const sqs: TestSqs = {
    url: `http://127.0.0.1:${server.port}/123456789012/mail`,
    waiting: new Map(),
    received: [],
    longPolls: false,
    error: null,
    put: body => void sqs.waiting.set(`r${count++}`, typeof body === 'string' ? body : JSON.stringify(body)),
    release: () => {
      for (const answer of held) answer()
      held = []
    },
    close: () => server.stop(true),
  }

  async function respond(request: Request): Promise<Response> {
    const given = JSON.parse(await request.text())
    if (sqs.error) return Response.json({ __type: sqs.error.type, message: 'no' }, { status: sqs.error.status })
    switch (request.headers.get('x-amz-target')) {
      case 'AmazonSQS.ReceiveMessage':
        sqs.received.push(given)
        if (sqs.longPolls && sqs.waiting.size === 0) await new Promise<void>(resolve => held.push(resolve))
        return Response.json({ Messages: Array.from(sqs.waiting, toMessage).slice(0, given.MaxNumberOfMessages) })
      case 'AmazonSQS.DeleteMessageBatch':
        for (const { ReceiptHandle } of given.Entries) sqs.waiting.delete(ReceiptHandle)
        return Response.json({ Successful: given.Entries.map(({ Id }: { Id: string }) => ({ Id })), Failed: [] })
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
