import type { Course, News } from './delivery-plan.ts'
import { type ScriptedRelay, type Step, scriptedRelay } from './scripted-relay.ts'

/** What the provider truly did with one recipient of one email. */
export interface LedgerEntry {
  readonly address: string
  /** As it came in MAIL FROM: the provider reports to it. */
  readonly reversePath: string
  readonly course: Course
  /** Troubles that it went through. */
  met: number
  /** Answers, or ends of the connection, after which the message was to be offered again. */
  putOff: number
  /** How often it has the message, whether or not it said so. */
  takings: number
  /** 250 to the final dot. */
  acknowledged: number
  /** Refusals for good, in order. */
  readonly refused: { readonly at: 'rcpt' | 'content'; readonly reply: string }[]
  /** What it told afterwards, and the other side took. */
  readonly told: News[]
  /** The header as it came. */
  header: string
}

export interface ChaoticProvider {
  readonly url: string
  /** Every recipient it heard of, by reverse-path, in the order of the first RCPT. */
  readonly ledger: ReadonlyMap<string, LedgerEntry>
  close(): Promise<void>
}

/** Every so often a connection ends where it does not yet know of whom it is about. */
function everyNth(steps: Readonly<Record<number, Step>>, otherwise: Step): () => Step {
  let count = 0
  return () => {
    count++
    const hit = Object.keys(steps).find(nth => count % Number(nth) === 0)
    return hit === undefined ? otherwise : (steps[Number(hit)] ?? otherwise)
  }
}

/** A provider that follows a course for each recipient; `onTaken` hears of each message that it takes, before it answers. */
export async function chaoticProvider(
  courseOf: (address: string) => Course,
  onTaken: (entry: LedgerEntry) => void,
): Promise<ChaoticProvider> {
  const ledger = new Map<string, LedgerEntry>()

  const entryOf = (reversePath: string): LedgerEntry => {
    const entry = ledger.get(reversePath)
    if (!entry) throw new Error(`no RCPT came from ${reversePath}`)
    return entry
  }
  const nextTrouble = ({ course, met }: LedgerEntry) => course.troubles[met]
  const puttingOff = (entry: LedgerEntry, step: Step): Step => {
    entry.met++
    entry.putOff++
    return step
  }
  const refusing = (entry: LedgerEntry, at: 'rcpt' | 'content'): Step => {
    entry.refused.push({ at, reply: entry.course.reply })
    return entry.course.reply
  }

  function rcpt(address: string, from: string): Step {
    const known = ledger.get(from)
    const entry = known ?? newEntry(address, from, courseOf(address))
    ledger.set(from, entry)
    switch (nextTrouble(entry)) {
      case '451 at RCPT':
        return puttingOff(entry, '451 4.7.1 Come back later')
      case '421 at RCPT':
        return puttingOff(entry, '421 4.3.2 Going down close')
      case 'close at RCPT':
        return puttingOff(entry, 'close')
      case undefined:
        return entry.course.ending === 'refuse at RCPT' ? refusing(entry, 'rcpt') : '250 2.1.5 ok'
      default:
        return '250 2.1.5 ok'
    }
  }

  function data(from: string): Step {
    const entry = entryOf(from)
    switch (nextTrouble(entry)) {
      case '451 at DATA':
        return puttingOff(entry, '451 4.3.0 Not now')
      case 'close at DATA':
        return puttingOff(entry, 'close')
      case 'close in the content':
        return puttingOff(entry, '354 go on close')
      case undefined:
        return entry.course.ending === 'refuse at DATA' ? refusing(entry, 'content') : '354 go on'
      default:
        return '354 go on'
    }
  }

  function take(entry: LedgerEntry, message: Buffer): void {
    entry.takings++
    const text = message.toString('latin1')
    entry.header = text.slice(0, text.indexOf('\r\n\r\n') + 2)
    onTaken(entry)
  }

  function dot(message: Buffer, from: string): Step {
    const entry = entryOf(from)
    switch (nextTrouble(entry)) {
      case '451 at the dot':
        return puttingOff(entry, '451 4.3.0 Try again')
      case '421 at the dot':
        return puttingOff(entry, '421 4.3.2 Going down close')
      case 'lose at the dot':
        return puttingOff(entry, 'close')
      case 'take and close':
        take(entry, message)
        return puttingOff(entry, 'close')
    }
    if (entry.course.ending === 'refuse at the dot') return refusing(entry, 'content')
    take(entry, message)
    entry.acknowledged++
    return `250 2.0.0 Ok: queued as Q${entry.takings}`
  }

  const relay: ScriptedRelay = await scriptedRelay({
    banner: everyNth({ 7: '421 4.3.2 Too busy close', 11: 'close' }, '220 provider.test ESMTP'),
    ehlo: everyNth({ 13: 'close' }, '250-provider.test\r\n250 SIZE 1000000'),
    mail: everyNth({ 97: 'close', 101: '451 4.3.0 Busy', 103: '421 4.3.2 Going down close' }, '250 2.1.0 ok'),
    rset: everyNth({ 17: 'close' }, '250 2.0.0 ok'),
    dotAfterMs: 3,
    rcpt,
    data,
    dot,
  })
  return { url: relay.url, ledger, close: () => relay.close() }
}

function newEntry(address: string, reversePath: string, course: Course): LedgerEntry {
  const counts = { met: 0, putOff: 0, takings: 0, acknowledged: 0 }
  return { address, reversePath, course, ...counts, refused: [], told: [], header: '' }
}
