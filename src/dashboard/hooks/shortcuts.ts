import { useEffect, useRef, useSyncExternalStore } from 'react'

/** A key of the keyboard, or `g` and a letter after it ("g d"), or one with Ctrl or Cmd ("mod+k"). */
export interface Shortcut {
  /** As `KeyboardEvent.key` has it: `j`, `?`, `/`, `Escape`; `g d`; `mod+k`. */
  readonly key: string
  /** What it does, in the help dialog. */
  readonly label: string
  readonly run: () => void
}

interface Group {
  readonly name: string
  readonly shortcuts: readonly Shortcut[]
}

const storageKey = 'mailroom-shortcuts'
const chordMs = 1_500
let groups: readonly Group[] = []
let isOn = localStorage.getItem(storageKey) !== 'off'
let chordUntil = 0
const listeners = new Set<() => void>()

/**
 * The keys of what is shown. The one that was shown last wins where two want the same key. They do nothing while one types
 * or a dialog is open, and nothing when the person has switched them off; those with Ctrl always work.
 * @param group their heading in the help dialog
 */
export function useShortcuts(group: string, shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  const keys = shortcuts.map(({ key, label }) => `${key} ${label}`).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: registered anew when the keys change, not when `run` does
  useEffect(() => {
    const registered: Group = {
      name: group,
      shortcuts: latest.current.map((shortcut, index) => ({ ...shortcut, run: () => latest.current[index]?.run() })),
    }
    change([...groups, registered])
    return () => change(groups.filter(other => other !== registered))
  }, [group, keys])
}

/** All keys that work now, for the help dialog. */
export function useShortcutGroups(): readonly Group[] {
  return useSyncExternalStore(subscribe, () => groups)
}

/** Whether single keys work, and how to switch them. Stored in this browser. */
export function useShortcutSwitch(): readonly [boolean, (isOn: boolean) => void] {
  return [
    useSyncExternalStore(subscribe, () => isOn),
    next => {
      isOn = next
      localStorage.setItem(storageKey, next ? 'on' : 'off')
      change(groups)
    },
  ]
}

/** Listens to the keyboard. Called once, when the page starts. */
export function startShortcuts(): void {
  document.addEventListener('keydown', event => {
    const key = keyOf(event)
    if (!key || event.defaultPrevented) return
    const found = find(key)
    if (!found) return
    event.preventDefault()
    found.run()
  })
}

/** The key as a {@link Shortcut} names it; null: not for us. */
function keyOf(event: KeyboardEvent): string | null {
  if (event.altKey || event.isComposing || event.key === 'Shift') return null
  if (event.ctrlKey || event.metaKey) return `mod+${event.key.toLowerCase()}`
  if (!isOn || isTyping(event.composedPath()[0]) || document.querySelector('dialog[open]')) return null
  if (performance.now() < chordUntil) {
    chordUntil = 0
    return `g ${event.key}`
  }
  if (event.key === 'g') {
    chordUntil = performance.now() + chordMs
    return null
  }
  return event.key
}

function find(key: string): Shortcut | undefined {
  return groups
    .toReversed()
    .flatMap(({ shortcuts }) => shortcuts)
    .find(shortcut => shortcut.key === key)
}

function isTyping(target: EventTarget | undefined): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest('input:not([type=checkbox],[type=radio]), textarea, select, [role=menu]') !== null)
  )
}

function change(next: readonly Group[]): void {
  groups = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
