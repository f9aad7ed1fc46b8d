import { SmtpClient } from './smtp-client.ts'

/** A report on its way. */
export interface OutgoingReport {
  readonly from: string
  readonly to: string
  readonly message: string
  /** How the last reply has to begin. */
  readonly expected: '250 ' | '550 '
  readonly onAccepted?: () => void
}

export interface ReportSender {
  send(report: OutgoingReport): void
  /** Resolves when everything was told. */
  drained(): Promise<void>
  /** Replies that were not the expected one, with what they were to. */
  readonly unexpected: readonly string[]
  /** How many were told, and how often a 4yz put one off. */
  counts(): { readonly sent: number; readonly deferred: number }
  /** Ends its connections. */
  close(): Promise<void>
}

const maxTries = 20

/** Tells reports over so many SMTP connections at once, each with many transactions; tries again what is put off. */
export function startReportSender(port: () => number, connections: number): ReportSender {
  const queue: { readonly report: OutgoingReport; readonly tries: number }[] = []
  const unexpected: string[] = []
  let under = 0
  let told = 0
  let putOff = 0
  let isOver = false

  async function lane(): Promise<void> {
    let client: SmtpClient | undefined
    while (!isOver) {
      const next = queue.shift()
      if (!next) {
        await Bun.sleep(3)
        continue
      }
      under++
      const { report, tries } = next
      let reply: string
      try {
        client ??= await SmtpClient.ready(port())
        reply = await transact(client, report)
        // Who guesses addresses waits longer for each answer in the same session.
        if (!reply.startsWith('250 ')) {
          client.hangUp()
          client = undefined
        }
      } catch (error) {
        client?.hangUp()
        client = undefined
        reply = `421 ${String(error)}`
      }
      if (reply.startsWith('4') && tries < maxTries) {
        putOff++
        queue.push({ report, tries: tries + 1 })
      } else if (reply.startsWith(report.expected)) {
        told++
        if (reply.startsWith('250 ')) report.onAccepted?.()
      } else unexpected.push(`${reply}, to ${report.to}: ${report.message.slice(0, 400)}`)
      under--
    }
    client?.hangUp()
  }

  const lanes = Array.from({ length: connections }, lane)
  return {
    send: report => void queue.push({ report, tries: 1 }),
    async drained() {
      while (queue.length > 0 || under > 0) await Bun.sleep(5)
    },
    unexpected,
    counts: () => ({ sent: told, deferred: putOff }),
    async close() {
      isOver = true
      await Promise.all(lanes)
    },
  }
}

async function transact(client: SmtpClient, { from, to, message }: OutgoingReport): Promise<string> {
  for (const command of [`MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA']) {
    const reply = await client.command(command)
    if (!/^[23]/.test(reply)) return reply
  }
  client.send(Buffer.from(`${message.replace(/^\./gm, '..')}.\r\n`, 'latin1'))
  return client.reply(30_000)
}
