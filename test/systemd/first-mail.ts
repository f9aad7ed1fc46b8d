import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/base/database/database.ts'
import { createDemo } from '../../src/cli/demo.ts'
import { SmtpClient } from '../harness/smtp-client.ts'

/**
 * A message in and one out, by the installed Mailroom below the folder that the first argument names: one comes in by
 * SMTP, and one goes out by the API, to the relay, which leads back to where mail comes in. Prints the subjects that the
 * inbox ends with, and the status of what was sent. The second argument is the tag of both subjects.
 */
const [folder = '', tag = ''] = process.argv.slice(2)
const base = 'http://127.0.0.1:8080'
const { key } = JSON.parse(readFileSync(join(folder, 'etc/mailroom/first-key.json'), 'utf8')) as { key: string }
const url = readFileSync(join(folder, 'etc/mailroom/credentials/database_url'), 'utf8').trim()
const database = openDatabase(url.replace('=/run/', `=${folder}/run/`), 2)
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

async function ask<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Answer
}
