import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Figure, figure } from './figure.ts'
import type { Ground } from './ground.ts'
import { packMessages } from './message-file.ts'
import { signedMessages } from './messages.ts'
import { runPart, startMailroom } from './processes.ts'

const connections = 20

interface Sent {
  readonly count: number
  readonly seconds: number
}
const sizes = [
  { name: 'ingest, 5 KB', count: 10_000, attachmentBytes: 0 },
  { name: 'ingest, 87 KB', count: 3000, attachmentBytes: 60_000 },
] as const

/** Signed messages over reused connections, through all checks to a committed row. */
export async function measureIngest(ground: Ground): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { name, count, attachmentBytes } of sizes) {
    const messages = await signedMessages(ground.sender, ground.mailbox, count, attachmentBytes)
    const warmUp = join(ground.folder, 'warm-up')
    const file = join(ground.folder, 'messages')
    writeFileSync(warmUp, packMessages(messages.slice(0, count / 3)))
    writeFileSync(file, packMessages(messages.slice(count / 3)))
    const { clamd, databaseUrl, senderText: sender } = ground
    const rateOf = async (part: Parameters<typeof runPart>[0]) => (await runPart<{ rate: number }>(part)).rate
    const limits = {
      clamd: await rateOf({ part: 'clamd', clamd, lanes: connections, messages: file }),
      mailauth: await rateOf({ part: 'mailauth', sender, messages: file }),
      inserts: await rateOf({ part: 'inserts', databaseUrl, connections, messages: file }),
    }
    const mailroom = await startMailroom({ ...ground.env, MAILROOM_ROLES: 'smtp' })
    const envelope = { from: `alice@${sender.domain}`, to: ground.mailbox }
    const load = { part: 'smtp-load', port: mailroom.smtp ?? 0, connections, ...envelope } as const
    const before = await ground.countMessages()
    const warm = await runPart<Sent>({ ...load, messages: warmUp, maxSeconds: 6 })
    const sent = await runPart<Sent>({ ...load, messages: file, maxSeconds: 8 })
    const filed = (await ground.countMessages()) - before
    const answered = warm.count + sent.count
    if (filed !== answered) throw new Error(`${answered} messages were answered 250 but ${filed} are filed`)
    figures.push(figure(name, 0.6, { rate: sent.count / sent.seconds, limits, peakBytes: mailroom.peakBytes() }))
    await mailroom.end()
  }
  return figures
}
