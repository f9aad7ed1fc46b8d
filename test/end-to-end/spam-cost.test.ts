import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpuTimeMs } from '../../src/cli/bench/cpu-time.ts'
import { isLong } from '../harness/amount.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { startRspamd, type TestRspamd } from '../harness/rspamd.ts'
import { sendMail } from '../harness/smtp-delivery.ts'
import { type CorpusMessage, corpusZone, makeCorpus } from '../harness/spam-corpus.ts'

const turns = 6
const messagesPerTurn = 300
const clients = 16
const timeoutMs = 180_000

/** What receiving some messages took, in milliseconds. */
interface Turn {
  readonly elapsed: number
  /** CPU time. */
  readonly mailroom: number
  readonly rspamd: number
  readonly redis: number
}

describe.skipIf(!isLong)('what a spam filter costs to receive', () => {
  let rspamd: TestRspamd
  let without: Mailroom
  let filtered: Mailroom

  beforeAll(async () => {
    rspamd = await startRspamd({ zone: corpusZone })
    const settings = {
      MAILROOM_RESOLVERS: `${rspamd.dns.host}:${rspamd.dns.port}`,
      // A client's next session begins before the server has noticed the end of the one before.
      MAILROOM_MAX_SESSIONS_PER_ADDRESS: String(4 * clients),
    }
    without = await startMailroom(settings)
    filtered = await startMailroom({ ...settings, ...rspamd.settings })
  }, timeoutMs)
  afterAll(async () => {
    await Promise.all([without?.stop(), filtered?.stop()])
    await rspamd?.close()
  }, timeoutMs)

  async function receive(mailroom: Mailroom, messages: CorpusMessage[]): Promise<Turn> {
    const clocks = () => ({ elapsed: performance.now(), mailroom: cpuTimeMs(mailroom.pid), ...rspamd.cpuTimeMs() })
    const before = clocks()
    const client = async () => {
      for (let message = messages.pop(); message; message = messages.pop()) {
        const { text, from } = message
        const reply = await sendMail(mailroom.smtp, text, { from, helo: `mx.${from.split('@')[1]}` })
        expect(reply).toStartWith('250 2.0.0 Accepted as msg_')
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
    const after = clocks()
    return {
      elapsed: after.elapsed - before.elapsed,
      mailroom: after.mailroom - before.mailroom,
      rspamd: after.rspamd - before.rspamd,
      redis: after.redis - before.redis,
    }
  }

  test(
    'in turns without and with it',
    async () => {
      // Each turn has messages of its own: the bytes of the same one would be stored once.
      const corpus = (turn: number) => [...makeCorpus(turn, messagesPerTurn / 2)]
      for (const mailroom of [without, filtered]) await receive(mailroom, corpus(turns))
      const plain: Turn[] = []
      const checked: Turn[] = []
      for (let turn = 0; turn < turns; turn++) {
        plain.push(await receive(without, corpus(turn)))
        checked.push(await receive(filtered, corpus(turn)))
      }
      process.stdout.write(describeCost(plain, checked))
      const { db } = filtered.database
      expect(await db.selectFrom('messages').select('id').where('spam', 'is', null).execute()).toEqual([])
    },
    timeoutMs,
  )
})

function describeCost(plain: readonly Turn[], checked: readonly Turn[]): string {
  const perMessage = (of: readonly Turn[], what: keyof Turn) =>
    of.reduce((sum, turn) => sum + turn[what], 0) / (turns * messagesPerTurn)
  const rates = (of: readonly Turn[]) =>
    of.map(({ elapsed }) => Math.round((1000 * messagesPerTurn) / elapsed)).join(', ')
  const ms = (of: readonly Turn[], what: keyof Turn) => `${perMessage(of, what).toFixed(2)} ms`
  const ratio = perMessage(plain, 'elapsed') / perMessage(checked, 'elapsed')
  return [
    `messages a second: ${rates(plain)} without rspamd, ${rates(checked)} with it: ${ratio.toFixed(2)} of the rate\n`,
    `CPU for each: Mailroom ${ms(plain, 'mailroom')} without, ${ms(checked, 'mailroom')} with rspamd, `,
    `which takes ${ms(checked, 'rspamd')}, and its Redis ${ms(checked, 'redis')}\n`,
  ].join('')
}
