import { minuteMs } from '../../../base/clock.ts'
/** One of several hosts, of which the first that is not in trouble is used. */
export interface FailoverHost<Of> {
  readonly value: Of
  /** It was reached. */
  succeeded(): void
  /** It could not be used: others come first for a while. */
  failed(): void
}

const firstHoldMs = 15_000
const maxHoldMs = 5 * minuteMs

interface State {
  holdMs: number
  /** Milliseconds of the machine's running time; 0: it is not held. */
  heldUntil: number
}

/**
 * Hosts in the operator's order. One in trouble steps back for 15 s, 30 s … 5 min; after that one submission tries it again
 * while the others stay where they are, and once it is reached it has its place back.
 */
export function failoverHosts<Of>(values: readonly Of[], nowMs: () => number = () => performance.now()) {
  const states: State[] = values.map(() => ({ holdMs: 0, heldUntil: 0 }))

  function hold(state: State): void {
    state.holdMs = Math.min(Math.max(state.holdMs * 2, firstHoldMs), maxHoldMs)
    state.heldUntil = nowMs() + state.holdMs
  }

  /** All of them: those that may be used first, and then, as nothing else is left, those that are held. */
  return (): readonly FailoverHost<Of>[] => {
    const hosts = values.map((value, i) => ({ value, state: states[i] ?? { holdMs: 0, heldUntil: 0 } }))
    const isFree = ({ state }: (typeof hosts)[number]) => state.heldUntil === 0 || nowMs() >= state.heldUntil
    const free = hosts.filter(isFree)
    const held = hosts.filter(host => !free.includes(host))
    // Whoever is tried again is tried by one: for the next it is as held as before.
    const [first] = free
    if (first && first.state.heldUntil > 0) first.state.heldUntil = nowMs() + first.state.holdMs
    return [...free, ...held].map(({ value, state }) => ({
      value,
      succeeded() {
        state.holdMs = 0
        state.heldUntil = 0
      },
      failed: () => hold(state),
    }))
  }
}
