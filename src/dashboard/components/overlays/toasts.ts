import { useSyncExternalStore } from 'react'

/** A short message at the bottom of the page. */
export interface Toast {
  readonly id: number
  readonly text: string
  readonly kind: 'done' | 'failed'
  /** Takes the act back, while the toast is shown. */
  readonly undo: (() => void) | null
}

const shownMs = 8_000
const mostShown = 3

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

/** Says that something was done, with Undo for 8 s where it can be taken back. */
export function showToast(
  text: string,
  { undo = null, kind = 'done' }: Partial<Pick<Toast, 'undo' | 'kind'>> = {},
): void {
  lastId += 1
  const toast: Toast = { id: lastId, text, kind, undo }
  change([...toasts, toast].slice(-mostShown))
  setTimeout(() => dismissToast(toast.id), shownMs)
}

/** Takes a toast away. */
export function dismissToast(id: number): void {
  change(toasts.filter(toast => toast.id !== id))
}

/** The toasts that are shown now, oldest first. */
export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(subscribe, () => toasts)
}

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
