import { expect } from 'bun:test'
import type { Mailroom } from './mailroom.ts'
import { SmtpClient } from './smtp-client.ts'

export interface Envelope {
  readonly from?: string
  readonly to?: readonly string[]
  readonly helo?: string
}

/**
 * Sends a message in a session of its own, dot-stuffed. Returns a greeting that refuses the session, the reply to the first
 * refused command, or that to the final dot.
 * Text is sent as latin1.
 */
export async function sendMail(port: number, message: string | Buffer, envelope: Envelope = {}): Promise<string> {
  const { from = 'alice@sender.example', to = ['hello@demo.test'], helo = 'mx.sender.example' } = envelope
  const client = await SmtpClient.connect(port)
  try {
    const greeting = await client.reply()
    if (!greeting.startsWith('2')) return greeting
    const recipients = to.map(value => `RCPT TO:<${value}>`)
    for (const command of [`EHLO ${helo}`, `MAIL FROM:<${from}>`, ...recipients, 'DATA']) {
      const reply = await client.command(command)
      if (!/^[23]/.test(reply)) return reply
    }
    const text = typeof message === 'string' ? message : message.toString('latin1')
    const end = text.endsWith('\r\n') ? '.' : '\r\n.'
    client.send(Buffer.from(`${text.replace(/^\./gm, '..')}${end}\r\n`, 'latin1'))
    return await client.reply(60_000)
  } finally {
    client.hangUp()
  }
}

/** The message id in the reply that accepted it. */
export function acceptedMessageId(reply: string): string {
  const id = /^250 2\.0\.0 Accepted as (msg_\S+)$/.exec(reply)?.[1]
  if (!id) throw new Error(`the message was not accepted: ${reply}`)
  return id
}

/** The message from the API. */
export async function readMessage({ api }: Mailroom, id: string) {
  const { status, json } = await api('GET', `/v1/inbox/${id}`)
  expect(status).toBe(200)
  return json
}

/** Sends a message, which has to be accepted, and returns it from the API. */
export async function deliverMessage(mailroom: Mailroom, message: string | Buffer, envelope: Envelope = {}) {
  return readMessage(mailroom, acceptedMessageId(await sendMail(mailroom.smtp, message, envelope)))
}

/** The id of the mailbox of demo.test with this local part; null: the catch-all. */
export async function findMailboxId({ api }: Mailroom, localPart: string | null): Promise<string> {
  const { json } = await api('GET', '/v1/mailboxes')
  return json.data.find((mailbox: { local_part: string | null }) => mailbox.local_part === localPart).id
}
