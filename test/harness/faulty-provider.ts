import type { DeliveryPlan, PlannedEvent } from './delivery-plan.ts'
import { type ScriptedRelay, type ScriptStep, startScriptedRelay } from './scripted-relay.ts'

/** What the provider did with one recipient of one email. */
export interface LedgerEntry {
  readonly address: string
  /** As in MAIL FROM; the provider sends its reports there. */
  readonly reversePath: string
  readonly plan: DeliveryPlan
  /** How many faults of the plan have occurred. */
  faultsMet: number
  /** Replies and closed connections after which the message has to be submitted again. */
  deferrals: number
  /** How often it accepted the message, acknowledged or not. */
  acceptances: number
  /** How often it replied 250 to the final dot. */
  acknowledged: number
  /** Permanent rejections, in order. */
  readonly rejections: { readonly at: 'rcpt' | 'content'; readonly reply: string }[]
  /** The events that it reported afterwards and that Mailroom accepted. */
  readonly reported: PlannedEvent[]
  /** The header of the message as received. */
  header: string
}

export interface FaultyProvider {
  readonly url: string
  /** Every recipient, by reverse-path, in the order of the first RCPT. */
  readonly ledger: ReadonlyMap<string, LedgerEntry>
  close(): Promise<void>
}

/** A step that differs every nth time; for the points at which the recipient is not known yet. */
function everyNth(steps: Readonly<Record<number, ScriptStep>>, otherwise: ScriptStep): () => ScriptStep {
  let count = 0
  return () => {
    count++
    const hit = Object.keys(steps).find(nth => count % Number(nth) === 0)
    return hit === undefined ? otherwise : (steps[Number(hit)] ?? otherwise)
  }
}

/** Starts a provider that follows a plan for each recipient. `onAccepted` is called for each accepted message, before the reply. */
export async function startFaultyProvider(
  planOf: (address: string) => DeliveryPlan,
  onAccepted: (entry: LedgerEntry) => void,
): Promise<FaultyProvider> {
  const ledger = new Map<string, LedgerEntry>()

  const entryOf = (reversePath: string): LedgerEntry => {
    const entry = ledger.get(reversePath)
    if (!entry) throw new Error(`no RCPT came from ${reversePath}`)
    return entry
  }
  const nextFault = ({ plan, faultsMet }: LedgerEntry) => plan.faults[faultsMet]
  const deferring = (entry: LedgerEntry, step: ScriptStep): ScriptStep => {
    entry.faultsMet++
    entry.deferrals++
    return step
  }
  const rejecting = (entry: LedgerEntry, at: 'rcpt' | 'content'): ScriptStep => {
    entry.rejections.push({ at, reply: entry.plan.reply })
    return entry.plan.reply
  }

  function rcpt(address: string, from: string): ScriptStep {
    const known = ledger.get(from)
    const entry = known ?? newEntry(address, from, planOf(address))
    ledger.set(from, entry)
    switch (nextFault(entry)) {
      case '451 at RCPT':
        return deferring(entry, '451 4.7.1 Come back later')
      case '421 at RCPT':
        return deferring(entry, '421 4.3.2 Going down close')
      case 'close at RCPT':
        return deferring(entry, 'close')
      case undefined:
        return entry.plan.ending === 'refuse at RCPT' ? rejecting(entry, 'rcpt') : '250 2.1.5 ok'
      default:
        return '250 2.1.5 ok'
    }
  }

  function data(from: string): ScriptStep {
    const entry = entryOf(from)
    switch (nextFault(entry)) {
      case '451 at DATA':
        return deferring(entry, '451 4.3.0 Not now')
      case 'close at DATA':
        return deferring(entry, 'close')
      case 'close in the content':
        return deferring(entry, '354 go on close')
      case undefined:
        return entry.plan.ending === 'refuse at DATA' ? rejecting(entry, 'content') : '354 go on'
      default:
        return '354 go on'
    }
  }

  function accept(entry: LedgerEntry, message: Buffer): void {
    entry.acceptances++
    const text = message.toString('latin1')
    entry.header = text.slice(0, text.indexOf('\r\n\r\n') + 2)
    onAccepted(entry)
  }

  function dot(message: Buffer, from: string): ScriptStep {
    const entry = entryOf(from)
    switch (nextFault(entry)) {
      case '451 at the dot':
        return deferring(entry, '451 4.3.0 Try again')
      case '421 at the dot':
        return deferring(entry, '421 4.3.2 Going down close')
      case 'close at the dot':
        return deferring(entry, 'close')
      case 'accept and close':
        accept(entry, message)
        return deferring(entry, 'close')
    }
    if (entry.plan.ending === 'refuse at the dot') return rejecting(entry, 'content')
    accept(entry, message)
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
