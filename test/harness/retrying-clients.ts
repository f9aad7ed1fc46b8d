import { fetchValidated } from './openapi-validation.ts'
import { SmtpClient } from './smtp-client.ts'

/** Clients that send numbered emails over HTTP and messages over SMTP, and retry each until it is acknowledged. */
export interface RetryingClients {
  /** The numbers of the emails that got 202, with their ids. */
  readonly acceptedEmails: ReadonlyMap<number, string>
  /** The numbers of the messages that got 250. */
  readonly acceptedMessages: ReadonlySet<number>
  /** Resolves when everything is acknowledged. */
  readonly done: Promise<void>
  /** Starts no new email or message. */
  stop(): void
}

interface ClientsOptions {
  /** The number of emails, and of messages. */
  readonly count: number
  /** Clients for HTTP, and for SMTP. */
  readonly clientsPerProtocol: number
  readonly key: string
  /** The URL for the next request, without a final slash, and the port for the next session. */
  readonly http: () => string
  readonly smtp: () => number
  /** The pause of a client between two emails or messages. */
  readonly pauseMs?: number
  readonly giveUpMs?: number
}

const usualGiveUpMs = 50_000
const retryable: ReadonlySet<number> = new Set([429, 500, 503])

export const messageIdOf = (i: number) => `m${i}@client.test`

/** The message with this number, to hello@demo.test: it is filed once, however often it is sent. */
export function messageOf(i: number): string {
  const header = ['From: Ann <ann@client.test>', 'To: hello@demo.test', `Subject: Message ${i}`]
  const identity = [`Message-ID: <${messageIdOf(i)}>`, 'Date: Tue, 1 Jul 2025 10:00:00 +0000']
  return [...header, ...identity, '', `This is ${i}.`, ''].join('\r\n')
}

/** Retries until an attempt gives a value. */
export async function retryUntilSettled<Answer>(
  attempt: () => Promise<Answer | undefined>,
  what: string,
  giveUpMs = usualGiveUpMs,
): Promise<Answer> {
  for (const deadline = Date.now() + giveUpMs; Date.now() < deadline; await Bun.sleep(25)) {
    const answer = await attempt()
    if (answer !== undefined) return answer
  }
  throw new Error(`${what}: not settled within ${giveUpMs} ms`)
}

export function startRetryingClients(options: ClientsOptions): RetryingClients {
  const { count, clientsPerProtocol, pauseMs = 0, giveUpMs } = options
  const acceptedEmails = new Map<number, string>()
  const acceptedMessages = new Set<number>()
  let hasEnded = false
  /** Numbers from 0, shared by several clients. */
  const numbers = () => {
    let next = 0
    return () => (next < count && !hasEnded ? next++ : undefined)
  }
  const [nextEmail, nextMessage] = [numbers(), numbers()]

  /** Posts one email after the other. */
  async function post(): Promise<void> {
    for (let i = nextEmail(); i !== undefined; i = nextEmail()) {
      const email = { from: 'hello@demo.test', to: `r${i}@friend.test`, subject: `Email ${i}`, text: `This is ${i}.` }
      const id = await retryUntilSettled(
        () => request(options, email, `email ${i} of ${count}`),
        email.subject,
        giveUpMs,
      )
      acceptedEmails.set(i, id)
      if (pauseMs > 0) await Bun.sleep(pauseMs)
    }
  }

  /** Sends one message after the other, over one connection as long as it lasts. */
  async function send(): Promise<void> {
    let client: SmtpClient | undefined
    for (let i = nextMessage(); i !== undefined; i = nextMessage()) {
      const text = messageOf(i)
      const attempt = async () => {
        const reply = await transact(text).catch(() => undefined)
        if (reply?.startsWith('5')) throw new Error(reply)
        if (reply?.startsWith('250 ')) return true
        client?.hangUp()
        client = undefined
        return undefined
      }
      await retryUntilSettled(attempt, messageIdOf(i), giveUpMs)
      acceptedMessages.add(i)
      if (pauseMs > 0) await Bun.sleep(pauseMs)
    }
    client?.hangUp()

    async function transact(text: string): Promise<string> {
      client ??= await SmtpClient.ready(options.smtp())
      const replies = await client.commands('MAIL FROM:<ann@client.test>', 'RCPT TO:<hello@demo.test>', 'DATA')
      const refused = replies.find(reply => !/^[23]/.test(reply))
      if (refused) return refused
      client.send(text)
      return client.command('.')
    }
  }

  const working = Array.from({ length: clientsPerProtocol }, () => [post(), send()]).flat()
  return {
    acceptedEmails,
    acceptedMessages,
    done: Promise.all(working).then(() => undefined),
    stop: () => {
      hasEnded = true
    },
  }
}

/** The id in a 202 response; undefined: there was no response, or a retryable error. */
async function request(
  { key, http }: ClientsOptions,
  email: object,
  idempotencyKey: string,
): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetchValidated(`${http()}/v1/emails`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': idempotencyKey },
    body: JSON.stringify(email),
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined)
  const text = await response?.text().catch(() => undefined)
  if (!response || text === undefined || retryable.has(response.status)) return undefined
  if (response.status !== 202) throw new Error(`${response.status}: ${text}`)
  return (JSON.parse(text) as { readonly id: string }).id
}
