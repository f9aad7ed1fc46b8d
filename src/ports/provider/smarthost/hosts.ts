import { minuteMs } from '../../../base/clock.ts'

/** One of several hosts, of which the first that works is used. */
export interface FailoverHost<Of> {
  readonly value: Of
  /** To be called when the host worked. */
  succeeded(): void
  /** To be called when the host failed: the others come first for a while. */
  failed(): void
}

const firstBackoffMs = 15_000
const maxBackoffMs = 5 * minuteMs

interface HostState {
  backoffMs: number
  /** On the clock `nowMs`; 0: the host has not failed. */
  unavailableUntil: number
}

/**
 * Hosts in the operator's order. One that failed comes last for 15 s, 30 s … 5 min. After that a single submission tries it
 * again, and once it works it has its place back.
 * @param nowMs a monotonic clock, in milliseconds
 */
export function failoverHosts<Of>(values: readonly Of[], nowMs: () => number = () => performance.now()) {
  const states: HostState[] = values.map(() => ({ backoffMs: 0, unavailableUntil: 0 }))

  function backOff(state: HostState): void {
    state.backoffMs = Math.min(Math.max(state.backoffMs * 2, firstBackoffMs), maxBackoffMs)
    state.unavailableUntil = nowMs() + state.backoffMs
  }

  /** All hosts: the available ones, and after them those that failed, for when nothing else is left. */
  return (): readonly FailoverHost<Of>[] => {
    const hosts = values.map((value, i) => ({ value, state: states[i] ?? { backoffMs: 0, unavailableUntil: 0 } }))
    const isAvailable = ({ state }: (typeof hosts)[number]) =>
      state.unavailableUntil === 0 || nowMs() >= state.unavailableUntil
    const available = hosts.filter(isAvailable)
    const failed = hosts.filter(host => !available.includes(host))
    // One submission at a time tries a failed host again: for the next caller it is unavailable as before.
    const [first] = available
    if (first && first.state.unavailableUntil > 0) first.state.unavailableUntil = nowMs() + first.state.backoffMs
    return [...available, ...failed].map(({ value, state }) => ({
      value,
      succeeded() {
        state.backoffMs = 0
        state.unavailableUntil = 0
      },
      failed: () => backOff(state),
    }))
  }
}
