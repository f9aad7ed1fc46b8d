/** A record on its way by HTTP. */
export interface OutgoingWebhook {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The status that it is to end with. */
  readonly expected: number
  readonly onAccepted?: () => void
}

export interface WebhookPoster {
  post(record: OutgoingWebhook): void
  /** Resolves when everything was told. */
  drained(): Promise<void>
  /** Answers that were not the expected one. */
  readonly unexpected: readonly string[]
  /** How many were told, and how often one had to be told again. */
  counts(): { readonly posted: number; readonly retries: number }
  close(): Promise<void>
}

const maxTries = 1000
const againMs = 50

/** Posts records by so many lanes at once, as a provider does: what gets no answer, or a 5xx or 429, is told again. */
export function startWebhookPoster(base: () => string, lanes: number): WebhookPoster {
  const queue: { readonly record: OutgoingWebhook; readonly tries: number }[] = []
  const unexpected: string[] = []
  let under = 0
  let told = 0
  let again = 0
  let isOver = false

  async function post({ path, headers, body }: OutgoingWebhook): Promise<number> {
    try {
      const signal = AbortSignal.timeout(10_000)
      return (await fetch(base() + path, { method: 'POST', headers, body, signal })).status
    } catch {
      return 0
    }
  }

  async function lane(): Promise<void> {
    while (!isOver) {
      const next = queue.shift()
      if (!next) {
        await Bun.sleep(3)
        continue
      }
      under++
      const { record, tries } = next
      const status = await post(record)
      if (status === record.expected) {
        told++
        record.onAccepted?.()
      } else if ((status === 0 || status === 429 || status >= 500) && tries < maxTries) {
        again++
        await Bun.sleep(againMs)
        queue.push({ record, tries: tries + 1 })
      } else unexpected.push(`${status} instead of ${record.expected}, to ${record.body.slice(0, 400)}`)
      under--
    }
  }

  const running = Array.from({ length: lanes }, lane)
  return {
    post: record => void queue.push({ record, tries: 1 }),
    async drained() {
      while (queue.length > 0 || under > 0) await Bun.sleep(5)
    },
    unexpected,
    counts: () => ({ posted: told, retries: again }),
    async close() {
      isOver = true
      await Promise.all(running)
    },
  }
}
