import { formatDate } from '../../src/mail/date.ts'
import { acceptedMessageId, sendMail } from '../harness/smtp-delivery.ts'
import { openInstalled } from './installed-mailroom.ts'

/**
 * What the installed Mailroom below the folder in the first argument, and the rspamd beside it, make of a letter and of
 * GTUBE, which every spam filter takes for spam; and how much of each kind rspamd has learned once the letter was moved to
 * spam.
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
  const header = `From: you@friend.test\r\nTo: hello@demo.test\r\nSubject: ${name}\r\nDate: ${formatDate(Date.now())}\r\nMessage-ID: <${name}@friend.test>`
  const reply = await sendMail(25, `${header}\r\n\r\n${body}`, { from: 'you@friend.test' })
  return ask<Message>('GET', `/v1/inbox/${acceptedMessageId(reply)}`)
}

const describe = ({ folder, folder_reason, spam }: Message) => ({ folder, folder_reason, required: spam?.required })

/** Numbers of learned messages. The controller asks nobody on this machine for a password. */
async function countLearned(): Promise<{ spam: number; ham: number }> {
  const response = await fetch('http://127.0.0.1:11334/stat')
  const { statfiles } = (await response.json()) as { statfiles: readonly { symbol: string; revision: number }[] }
  const count = (symbol: string) => statfiles.find(file => file.symbol === symbol)?.revision ?? 0
  return { spam: count('BAYES_SPAM'), ham: count('BAYES_HAM') }
}

/** Moves it to spam, and waits until that was learned. */
async function teach({ id }: Message) {
  await ask('POST', `/v1/inbox/${id}/folder`, { folder: 'spam' })
  for (const deadline = Date.now() + 60_000; ; await Bun.sleep(500)) {
    const learned = await countLearned()
    if (learned.spam > 0 || Date.now() > deadline) return learned
  }
}

const letter = await deliver(
  'letter',
  'The garden needs water on these hot days, could you look after the tomatoes and beans next week?',
)
const gtubeMessage = await deliver('gtube', gtube)
const learned = await teach(letter)
process.stdout.write(JSON.stringify({ letter: describe(letter), gtube: describe(gtubeMessage), learned }))
process.exit(0)
