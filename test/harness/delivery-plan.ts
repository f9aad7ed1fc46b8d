/** Faults of a provider during a submission; each occurs once, in order, before the provider decides. */
export const faults = [
  '451 at RCPT',
  '421 at RCPT',
  'close at RCPT',
  '451 at DATA',
  'close at DATA',
  'close in the content',
  '451 at the dot',
  '421 at the dot',
  'close at the dot',
  'accept and close',
] as const
export type Fault = (typeof faults)[number]

/** An event that a provider reports for a recipient after it accepted the message. */
export interface PlannedEvent {
  readonly kind: 'delivered' | 'relayed' | 'delayed' | 'failed' | 'complained'
  /** The reply of the next server; empty: there is none. */
  readonly reply: string
}

/** What a provider does with one recipient of one email. */
export interface DeliveryPlan {
  readonly faults: readonly Fault[]
  readonly ending: 'accept' | 'refuse at RCPT' | 'refuse at DATA' | 'refuse at the dot'
  /** The reply of a refusal; empty for `accept`. */
  readonly reply: string
  readonly events: readonly PlannedEvent[]
  /** Whether the events are reported at once, while the reply to the final dot is still under way. */
  readonly isEarly: boolean
}

/** Pseudo-random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<Value>(random: () => number, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('there is nothing to pick from')
  return value
}

export function shuffled<Value>(random: () => number, values: readonly Value[]): readonly Value[] {
  return values
    .map(value => ({ value, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}

/** Bounces of an address that does not exist, of a disabled mailbox, and of neither. */
const refusals = [
  '550 5.1.1 User unknown',
  '550 5.1.2 Domain not found',
  '553 5.1.3 Bad address syntax',
  '551 5.1.6 Moved, no forwarding address',
  '556 5.1.10 Domain does not accept mail',
  '550 No such user here',
  '550 5.2.1 Mailbox disabled',
  '550 5.4.1 Recipient address rejected',
  '552 5.2.2 Mailbox full',
  '550 5.1.8 Bad sender system',
  '550 5.7.1 Refused by policy',
] as const
const contentRefusals = ['554 5.6.0 Cannot take this content', '554 5.7.1 Looks like spam'] as const
const expired = '451 4.4.7 Delivery time expired'

const delivered: PlannedEvent = { kind: 'delivered', reply: '250 2.0.0 Ok' }
const relayed: PlannedEvent = { kind: 'relayed', reply: '250 2.6.0 Passed on' }
const delayed: PlannedEvent = { kind: 'delayed', reply: '451 4.4.1 No answer from host' }
const complained: PlannedEvent = { kind: 'complained', reply: '' }

function randomEvents(random: () => number): readonly PlannedEvent[] {
  const failed: PlannedEvent = { kind: 'failed', reply: pick(random, [...refusals, expired]) }
  return pick<readonly PlannedEvent[]>(random, [
    [],
    [],
    [],
    [delivered],
    [delivered],
    [delayed],
    [relayed],
    [delayed, delivered],
    [failed],
    [failed],
    [delayed, failed],
    [delivered, failed],
    [complained],
    [delivered, complained],
    [failed, complained],
  ])
}

/** A random plan: two of three have no fault, one of ten ends in a refusal. */
export function randomPlan(random: () => number): DeliveryPlan {
  const count = pick(random, [0, 0, 0, 0, 1, 2])
  const planned = Array.from({ length: count }, () => pick(random, faults))
  const chance = random()
  if (chance < 0.1) {
    const isOfContent = chance < 0.04
    const ending = isOfContent ? pick(random, ['refuse at DATA', 'refuse at the dot'] as const) : 'refuse at RCPT'
    // A provider that accepted the message does not refuse it afterwards.
    const before = planned.filter(fault => fault !== 'accept and close')
    return {
      faults: before,
      ending,
      reply: pick(random, isOfContent ? contentRefusals : refusals),
      events: [],
      isEarly: false,
    }
  }
  const events = randomEvents(random)
  // A delay or a relay is reported only after the reply to the final dot.
  const isEarly = random() < 0.3 && events.every(({ kind }) => kind !== 'delayed' && kind !== 'relayed')
  return { faults: planned, ending: 'accept', reply: '', events, isEarly }
}
