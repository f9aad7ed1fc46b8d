import { useSyncExternalStore } from 'react'

/** Whether the server answers. It is asked again until it does, and then `onBack` is called. */
let isAway = false
let backOff = 0
const listeners = new Set<() => void>()
const backListeners = new Set<() => void>()

const firstPauseMs = 1_000
const mostPauseMs = 10_000

/** Says that a request got no answer. */
export function reportAway(): void {
  if (isAway) return
  change(true)
  backOff = firstPauseMs
  setTimeout(askAgain, backOff)
}

/** Calls `listener` each time that the server answers again. Returns how to stop it. */
export function onServerBack(listener: () => void): () => void {
  backListeners.add(listener)
  return () => backListeners.delete(listener)
}

/** Does the server not answer? */
export function useServerAway(): boolean {
  return useSyncExternalStore(subscribe, () => isAway)
}

async function askAgain(): Promise<void> {
  const answered = await fetch('/health', { cache: 'no-store' }).then(
    response => response.ok,
    () => false,
  )
  if (answered) {
    change(false)
    for (const listener of backListeners) listener()
  } else {
    backOff = Math.min(mostPauseMs, backOff * 2)
    setTimeout(askAgain, backOff)
  }
}

function change(next: boolean): void {
  isAway = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
