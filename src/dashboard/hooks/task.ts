import { useSyncExternalStore } from 'react'

/** Work that goes on when its screen is left, and the state that it has reached. */
export interface Task<State> {
  readonly get: () => State
  readonly set: (state: State) => void
  readonly subscribe: (listener: () => void) => () => void
}

/** The state of work that outlives what shows it. Made once, outside of all components. */
export function createTask<State>(initial: State): Task<State> {
  let current = initial
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set(state) {
      current = state
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The state of a task as it is now. */
export function useTask<State>({ subscribe, get }: Task<State>): State {
  return useSyncExternalStore(subscribe, get)
}
