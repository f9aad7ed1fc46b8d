import { randomBytes } from 'node:crypto'
import type { Mailroom } from '../../harness/mailroom.ts'
import { SmtpClient } from '../../harness/smtp-client.ts'
import { until } from '../../harness/until.ts'

/** A message for the tests of the mail screens. */
export interface Letter {
  /** The From field; default: Ann. */
  readonly from?: string
  readonly to?: string
  /** Encoded as it shall stand in the header; absent: no Subject field. */
  readonly subject?: string
  readonly fields?: readonly string[]
  readonly body?: string | Buffer
  readonly mailFrom?: string
}

/** Delivers messages over SMTP. Resolves once all are filed, to their ids, in this order. */
export async function deliver(mailroom: Mailroom, letters: readonly Letter[]): Promise<readonly string[]> {
  const client = await SmtpClient.ready(mailroom.smtp)
  const ids: string[] = []
  for (const letter of letters) {
    const messageId = `${randomBytes(8).toString('hex')}@sender.example`
    const { from = 'Ann Lee <ann@sender.example>', to = 'hello@demo.test', mailFrom = 'ann@sender.example' } = letter
    const head = [
      `From: ${from}`,
      `To: ${to}`,
      `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
      `Message-ID: <${messageId}>`,
      ...(letter.subject === undefined ? [] : [`Subject: ${letter.subject}`]),
      ...(letter.fields ?? []),
    ]
    await client.command(`MAIL FROM:<${mailFrom}>`)
    await client.command(`RCPT TO:<${/<(.*)>/.exec(to)?.[1] ?? to}>`)
    await client.command('DATA')
    const body = Buffer.from(letter.body ?? 'Hello, this is the text.\r\n')
    client.send(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]))
    const reply = await client.command('\r\n.')
    if (!reply.startsWith('250')) throw new Error(`not taken: ${reply}`)
    ids.push(await idOf(mailroom, messageId))
  }
  await client.command('QUIT')
  return ids
}

async function idOf({ database: { db } }: Mailroom, messageId: string): Promise<string> {
  return until(
    async () =>
      (await db.selectFrom('messages').select('id').where('message_id', '=', messageId).executeTakeFirst())?.id,
    { what: `the message ${messageId} is filed` },
  )
}
