import { useSyncExternalStore } from 'react'

/** What the person chose; `system` follows the device. Stored in this browser. */
export type Theme = 'system' | 'light' | 'dark'

const key = 'mailroom-theme'
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

/** The theme, and how to choose another. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(subscribe, readTheme), chooseTheme]
}

/** Draws the page in the chosen theme. Called before the page is drawn first, and when the device changes its mind. */
export function applyTheme(): void {
  const theme = readTheme()
  const isDark = theme === 'dark' || (theme === 'system' && prefersDark.matches)
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
}

prefersDark.addEventListener('change', applyTheme)

function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  applyTheme()
  for (const listener of listeners) listener()
}

function readTheme(): Theme {
  const stored = localStorage.getItem(key)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
