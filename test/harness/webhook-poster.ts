import { until } from './until.ts'

/** A webhook request to post. */
export interface OutgoingWebhook {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The expected final status. */
  readonly expected: number
  readonly onAccepted?: () => void
}

export interface WebhookPoster {
  post(record: OutgoingWebhook): void
  /** Resolves when everything is posted. */
  drained(): Promise<void>
  /** Unexpected final responses. */
  readonly unexpected: readonly string[]
  /** How many were posted, and how many retries there were. */
  counts(): { readonly posted: number; readonly retries: number }
  close(): Promise<void>
}

const maxTries = 1000
const retryMs = 50
const drainMs = 120_000

/** Posts webhook requests from several workers at once, and retries without a response and after 5xx or 429, as providers do. */
export function startWebhookPoster(base: () => string, workers: number): WebhookPoster {
  const queue: { readonly record: OutgoingWebhook; readonly tries: number }[] = []
  const unexpected: string[] = []
  let inProgress = 0
  let posted = 0
  let retries = 0
  let isOver = false

  async function post({ path, headers, body }: OutgoingWebhook): Promise<number> {
    try {
      const signal = AbortSignal.timeout(10_000)
      return (await fetch(base() + path, { method: 'POST', headers, body, signal })).status
    } catch {
      return 0
    }
  }

  async function postFromQueue(): Promise<void> {
    while (!isOver) {
      const next = queue.shift()
      if (!next) {
        await Bun.sleep(3)
        continue
      }
      inProgress++
      const { record, tries } = next
      const status = await post(record)
      if (status === record.expected) {
        posted++
        record.onAccepted?.()
      } else if ((status === 0 || status === 429 || status >= 500) && tries < maxTries) {
        retries++
        await Bun.sleep(retryMs)
        queue.push({ record, tries: tries + 1 })
      } else unexpected.push(`${status} instead of ${record.expected}, to ${record.body.slice(0, 400)}`)
      inProgress--
    }
  }

  const running = Array.from({ length: workers }, postFromQueue)
  return {
    post: record => void queue.push({ record, tries: 1 }),
    async drained() {
      await until(() => queue.length === 0 && inProgress === 0, { what: 'all requests are posted', withinMs: drainMs })
    },
    unexpected,
    counts: () => ({ posted, retries }),
    async close() {
      isOver = true
      await Promise.all(running)
    },
  }
}
