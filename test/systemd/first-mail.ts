import { createHash } from 'node:crypto'
import { openDatabase } from '../../src/base/database/database.ts'
import { createDemo } from '../../src/cli/demo.ts'
import { SmtpClient } from '../harness/smtp-client.ts'
import { openInstalled } from './installed-mailroom.ts'

/**
 * A message in and one out, by the installed Mailroom below the folder that the first argument names: one comes in by
 * SMTP, and one goes out by the API, to the relay, which leads back to where mail comes in. Prints the subjects that the
 * inbox ends with, and the status of what was sent. The second argument is the tag of both subjects.
 */
const [folder = '', tag = ''] = process.argv.slice(2)
const { base, key, databaseUrl, ask } = openInstalled(folder)
const database = openDatabase(databaseUrl, 2)
await createDemo({ base, key }, database.db)
await database.close()

const smtp = await SmtpClient.ready(25)
await smtp.commands('MAIL FROM:<you@friend.test>', 'RCPT TO:<hello@demo.test>', 'DATA')
const id = createHash('sha256').update(tag).digest('hex')
const header = `From: you@friend.test\r\nTo: hello@demo.test\r\nSubject: in ${tag}\r\nMessage-ID: <${id}@friend.test>`
const reply = await smtp.command(`${header}\r\n\r\nIs anyone there?\r\n.`)
if (!reply.startsWith('250')) throw new Error(`the message was answered ${reply}`)

const accepted = await ask<{ id: string }>('POST', '/v1/emails', {
  from: 'Demo <hello@demo.test>',
  to: 'anyone@demo.test',
  subject: `out ${tag}`,
  text: 'Yes, here.',
})
for (const deadline = Date.now() + 30_000; ; await Bun.sleep(100)) {
  const { status } = await ask<{ status: string }>('GET', `/v1/emails/${accepted.id}`)
  const subjects = (await ask<{ data: readonly { subject: string }[] }>('GET', '/v1/inbox')).data.map(
    message => message.subject,
  )
  const isOver = status === 'sent' && subjects.includes(`out ${tag}`)
  if (!isOver && Date.now() < deadline) continue
  process.stdout.write(JSON.stringify({ status, subjects: subjects.sort() }))
  break
}
process.exit(0)
