import { acceptedMessageId, sendMail } from '../harness/smtp-delivery.ts'
import { until } from '../harness/until.ts'
import { openInstalled } from './installed-mailroom.ts'

/**
 * What the installed Mailroom below the folder in the first argument, and the rspamd beside it, make of a letter and of
 * GTUBE, which every spam filter takes for spam; and how much of each kind rspamd has learned once the letter was moved to
 * spam, and another that was there to the inbox.
 */
const [folder = ''] = process.argv.slice(2)
const { ask } = openInstalled(folder)

interface Message {
  readonly id: string
  readonly folder: string
  readonly folder_reason: string
  readonly spam: { readonly required: number } | null
}

const gtube = ['XJS*C4JDBQADN1.NSBN3*2IDNEN*', 'GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'].join('')

async function deliver(name: string, body: string): Promise<Message> {
  const header = `From: you@friend.test\r\nTo: hello@demo.test\r\nSubject: ${name}\r\nDate: Sun, 22 Nov 2026 10:00:00 +0000\r\nMessage-ID: <${name}@friend.test>`
  const reply = await sendMail(25, `${header}\r\n\r\n${body}`, { from: 'you@friend.test' })
  return ask<Message>('GET', `/v1/inbox/${acceptedMessageId(reply)}`)
}

const describe = ({ folder, folder_reason, spam }: Message) => ({ folder, folder_reason, required: spam?.required })
const move = ({ id }: Message, folder: string) => ask('POST', `/v1/inbox/${id}/folder`, { folder })

/** Numbers of learned messages. The controller asks nobody on this machine for a password. */
async function countLearned(): Promise<{ spam: number; ham: number }> {
  const response = await fetch('http://127.0.0.1:11334/stat')
  const { statfiles } = (await response.json()) as { statfiles: readonly { symbol: string; revision: number }[] }
  const count = (symbol: string) => statfiles.find(file => file.symbol === symbol)?.revision ?? 0
  return { spam: count('BAYES_SPAM'), ham: count('BAYES_HAM') }
}

const letter = await deliver(
  'letter',
  'The garden needs water on these hot days, could you look after the tomatoes and beans next week?',
)
const spam = await deliver(
  'gtube',
  `${gtube}\r\n\r\nThe choir rehearses on Mondays at seven in the parish hall, and bring your own music please.`,
)
await move(letter, 'spam')
await move(spam, 'inbox')
await until(async () => Object.values(await countLearned()).every(count => count > 0), {
  what: 'both were learned',
  withinMs: 40_000,
  details: async () => JSON.stringify(await countLearned()),
})
process.stdout.write(JSON.stringify({ letter: describe(letter), gtube: describe(spam), learned: await countLearned() }))
process.exit(0)
