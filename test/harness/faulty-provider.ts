import type { DeliveryPlan, PlannedEvent } from './delivery-plan.ts'
import { type ScriptedRelay, type ScriptStep, startScriptedRelay } from './scripted-relay.ts'

/** What the provider truly did with one recipient of one email. */
export interface LedgerEntry {
  readonly address: string
  /** As it came in MAIL FROM: the provider reports to it. */
  readonly reversePath: string
  readonly plan: DeliveryPlan
  /** Troubles that it went through. */
  faultsMet: number
  /** Answers, or ends of the connection, after which the message was to be offered again. */
  deferrals: number
  /** How often it has the message, whether or not it said so. */
  acceptances: number
  /** 250 to the final dot. */
  acknowledged: number
  /** Refusals for good, in order. */
  readonly rejections: { readonly at: 'rcpt' | 'content'; readonly reply: string }[]
  /** What it told afterwards, and the other side took. */
  readonly reported: PlannedEvent[]
  /** The header as it came. */
  header: string
}

export interface FaultyProvider {
  readonly url: string
  /** Every recipient it heard of, by reverse-path, in the order of the first RCPT. */
  readonly ledger: ReadonlyMap<string, LedgerEntry>
  close(): Promise<void>
}

/** Every so often a connection ends where it does not yet know of whom it is about. */
function everyNth(steps: Readonly<Record<number, ScriptStep>>, otherwise: ScriptStep): () => ScriptStep {
  let count = 0
  return () => {
    count++
    const hit = Object.keys(steps).find(nth => count % Number(nth) === 0)
    return hit === undefined ? otherwise : (steps[Number(hit)] ?? otherwise)
  }
}

/** A provider that follows a course for each recipient; `onTaken` hears of each message that it takes, before it answers. */
export async function startFaultyProvider(
  courseOf: (address: string) => DeliveryPlan,
  onTaken: (entry: LedgerEntry) => void,
): Promise<FaultyProvider> {
  const ledger = new Map<string, LedgerEntry>()

  const entryOf = (reversePath: string): LedgerEntry => {
    const entry = ledger.get(reversePath)
    if (!entry) throw new Error(`no RCPT came from ${reversePath}`)
    return entry
  }
  const nextTrouble = ({ plan, faultsMet }: LedgerEntry) => plan.faults[faultsMet]
  const puttingOff = (entry: LedgerEntry, step: ScriptStep): ScriptStep => {
    entry.faultsMet++
    entry.deferrals++
    return step
  }
  const refusing = (entry: LedgerEntry, at: 'rcpt' | 'content'): ScriptStep => {
    entry.rejections.push({ at, reply: entry.plan.reply })
    return entry.plan.reply
  }

  function rcpt(address: string, from: string): ScriptStep {
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
        return entry.plan.ending === 'refuse at RCPT' ? refusing(entry, 'rcpt') : '250 2.1.5 ok'
      default:
        return '250 2.1.5 ok'
    }
  }

  function data(from: string): ScriptStep {
    const entry = entryOf(from)
    switch (nextTrouble(entry)) {
      case '451 at DATA':
        return puttingOff(entry, '451 4.3.0 Not now')
      case 'close at DATA':
        return puttingOff(entry, 'close')
      case 'close in the content':
        return puttingOff(entry, '354 go on close')
      case undefined:
        return entry.plan.ending === 'refuse at DATA' ? refusing(entry, 'content') : '354 go on'
      default:
        return '354 go on'
    }
  }

  function take(entry: LedgerEntry, message: Buffer): void {
    entry.acceptances++
    const text = message.toString('latin1')
    entry.header = text.slice(0, text.indexOf('\r\n\r\n') + 2)
    onTaken(entry)
  }

  function dot(message: Buffer, from: string): ScriptStep {
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
    if (entry.plan.ending === 'refuse at the dot') return refusing(entry, 'content')
    take(entry, message)
    entry.acknowledged++
    return `250 2.0.0 Ok: queued as Q${entry.acceptances}`
  }

  const relay: ScriptedRelay = await startScriptedRelay({
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

function newEntry(address: string, reversePath: string, course: DeliveryPlan): LedgerEntry {
  const counts = { faultsMet: 0, deferrals: 0, acceptances: 0, acknowledged: 0 }
  return { address, reversePath, plan: course, ...counts, rejections: [], reported: [], header: '' }
}
