import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { formatDate } from '../../src/mail/date.ts'
import { SmtpClient } from './smtp-client.ts'

/** A burst of mail in both directions. */
export interface Burst {
  readonly smtpPort: number
  readonly http: string
  readonly key: string
  readonly smtpClients: number
  readonly messages: number
  readonly httpClients: number
  readonly emails: number
}

/** What became of a burst: replies and statuses that were not those of success, with how often each came. */
export interface BurstResult {
  readonly accepted: number
  readonly sent: number
  readonly others: Readonly<Record<string, number>>
}

const messagesPerSession = 20
/** Many clients at once wait long for a server with little CPU. */
const replyMs = 120_000

const vocabulary = 20_000

/** Some words. No two messages have the same text: the same bytes would be filed and stored only once. */
const words = () => Array.from({ length: 7 }, () => `w${Math.floor(Math.random() * vocabulary).toString(36)}`).join(' ')

function text(bytes: number): string {
  return Array.from({ length: Math.ceil(bytes / 76) }, () => `${words()} ${words()}`).join('\r\n')
}

const html = (bytes: number) =>
  `<html><head><style>p{color:#333}</style></head><body><table><tr><td>${text(bytes).replaceAll('\r\n', '</td></tr>\r\n<tr><td>')}</td></tr></table></body></html>`

const base64 = (bytes: number) => randomBytes(bytes).toString('base64').replace(/.{76}/g, '$&\r\n')

/** Most messages are small, one in ten has an attachment of 100 KB, one in a hundred of 1.5 MB. */
function message(i: number): string {
  const id = randomBytes(9).toString('hex')
  const head = [
    'From: Ann <ann@sender.example>',
    'To: hello@demo.test',
    `Subject: ${words()}`,
    `Date: ${formatDate(Date.now())}`,
    `Message-ID: <${id}@sender.example>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
  ]
  const attachmentBytes = i % 100 === 7 ? 1_100_000 : i % 10 === 3 ? 75_000 : 0
  const parts = [
    `Content-Type: text/plain\r\n\r\n${text(1500)}`,
    `Content-Type: text/html\r\n\r\n${html(i % 5 === 0 ? 20_000 : 2500)}`,
    ...(attachmentBytes > 0
      ? [
          `Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\n${base64(attachmentBytes)}`,
        ]
      : []),
  ]
  return `${head.join('\r\n')}\r\n\r\n${parts.map(part => `--b\r\n${part}\r\n`).join('')}--b--\r\n`
}

function email(i: number): object {
  return {
    from: 'hello@demo.test',
    to: `person${i}@friend.example`,
    subject: words(),
    text: text(2000),
    html: html(3000),
    ...(i % 10 === 3 && {
      attachments: [{ filename: 'a.pdf', content: randomBytes(100_000).toString('base64') }],
    }),
  }
}

/** Runs a burst; resolves when everything is answered. */
async function runBurst(burst: Burst): Promise<BurstResult> {
  const others: Record<string, number> = {}
  const count = (what: string) => {
    others[what] = (others[what] ?? 0) + 1
  }
  let accepted = 0
  let sent = 0
  let nextMessage = 0
  let nextEmail = 0

  async function receive(): Promise<void> {
    while (nextMessage < burst.messages) {
      const client = await SmtpClient.connect(burst.smtpPort)
      const command = (line: string) => {
        client.send(`${line}\r\n`)
        return client.reply(replyMs)
      }
      await client.reply(replyMs)
      await command('EHLO client.test')
      for (let n = 0; n < messagesPerSession && nextMessage < burst.messages; n++) {
        const i = nextMessage++
        for (const line of ['MAIL FROM:<ann@sender.example>', 'RCPT TO:<hello@demo.test>', 'DATA']) await command(line)
        client.send(Buffer.from(`${message(i).replaceAll('\r\n.', '\r\n..')}.\r\n`, 'latin1'))
        const reply = await client.reply(replyMs)
        if (reply.startsWith('250 ')) accepted++
        else count(reply)
      }
      await command('QUIT')
      client.hangUp()
    }
  }

  async function send(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (method: string, path: string, body?: object) => ask1(agent, burst, method, path, body)
    while (nextEmail < burst.emails) {
      const i = nextEmail++
      const { status } = await ask('POST', '/v1/emails', email(i))
      if (status === 202) sent++
      else count(`HTTP ${status}`)
      if (i % 4 !== 0) continue
      // People read while mail comes and goes.
      const { body } = await ask('GET', '/v1/inbox?limit=50')
      const id = (JSON.parse(body) as { data: { id: string }[] }).data[i % 50]?.id
      if (id !== undefined) await ask('GET', `/v1/inbox/${id}`)
      await ask('GET', `/v1/inbox/search?q=${encodeURIComponent(words().slice(0, 4))}`)
      await ask('GET', '/v1/emails?limit=50')
    }
    agent.destroy()
  }

  await Promise.all([
    ...Array.from({ length: burst.smtpClients }, receive),
    ...Array.from({ length: burst.httpClients }, send),
  ])
  return { accepted, sent, others }
}

function ask1(
  agent: Agent,
  { http, key }: Burst,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sending = request(
      `${http}${path}`,
      {
        agent,
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      },
      response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
        response.on('error', reject)
      },
    )
    sending.on('error', reject)
    sending.end(body && JSON.stringify(body))
  })
}

// As a program: the burst comes as JSON in the first argument, the result is printed as JSON.
if (import.meta.main) {
  const result = await runBurst(JSON.parse(process.argv[2] ?? ''))
  process.stdout.write(`${JSON.stringify(result)}\n`)
  process.exit(0)
}
