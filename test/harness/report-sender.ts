import { SmtpClient } from './smtp-client.ts'
import { until } from './until.ts'

/** A report to send. */
export interface OutgoingReport {
  readonly from: string
  readonly to: string
  readonly message: string
  /** How the final reply has to begin. */
  readonly expected: '250 ' | '550 '
  readonly onAccepted?: () => void
}

export interface ReportSender {
  send(report: OutgoingReport): void
  /** Resolves when everything is sent. */
  drained(): Promise<void>
  /** Unexpected final replies, with their reports. */
  readonly unexpected: readonly string[]
  /** How many were sent, and how often one was deferred with 4yz. */
  counts(): { readonly sent: number; readonly deferred: number }
  /** Closes the connections. */
  close(): Promise<void>
}

const maxTries = 20
const drainMs = 120_000

/** Sends reports over several SMTP connections at once, each with many transactions, and retries deferred ones. */
export function startReportSender(port: () => number, connections: number): ReportSender {
  const queue: { readonly report: OutgoingReport; readonly tries: number }[] = []
  const unexpected: string[] = []
  let inProgress = 0
  let sent = 0
  let deferred = 0
  let isOver = false

  async function sendFromQueue(): Promise<void> {
    let client: SmtpClient | undefined
    while (!isOver) {
      const next = queue.shift()
      if (!next) {
        await Bun.sleep(3)
        continue
      }
      inProgress++
      const { report, tries } = next
      let reply: string
      try {
        client ??= await SmtpClient.ready(port())
        reply = await transact(client, report)
        // Each unknown recipient delays the next replies of the same session.
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
        deferred++
        queue.push({ report, tries: tries + 1 })
      } else if (reply.startsWith(report.expected)) {
        sent++
        if (reply.startsWith('250 ')) report.onAccepted?.()
      } else unexpected.push(`${reply}, to ${report.to}: ${report.message.slice(0, 400)}`)
      inProgress--
    }
    client?.hangUp()
  }

  const workers = Array.from({ length: connections }, sendFromQueue)
  return {
    send: report => void queue.push({ report, tries: 1 }),
    async drained() {
      await until(() => queue.length === 0 && inProgress === 0, { what: 'all reports are sent', withinMs: drainMs })
    },
    unexpected,
    counts: () => ({ sent, deferred }),
    async close() {
      isOver = true
      await Promise.all(workers)
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
