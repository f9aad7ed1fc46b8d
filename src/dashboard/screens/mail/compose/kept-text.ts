import { personalPrefix } from '../../../api/personal-storage.ts'
import type { DraftFields } from './draft-fields.ts'

/** What is kept on this device until the server has it. */
interface KeptDraft {
  readonly fields: DraftFields
  /** When it was typed, in milliseconds. */
  readonly at: number
}

const prefix = `${personalPrefix}kept.`
const mostKept = 20
const mostAgeMs = 30 * 86_400_000

/** Keeps a text under a name: the id of a draft, `new`, or the message that it replies to. */
export function keepText(storage: Storage, name: string, fields: DraftFields, now: number): void {
  try {
    storage.setItem(prefix + name, JSON.stringify({ fields, at: now } satisfies KeptDraft))
  } catch {
    // Full, or forbidden: there is nothing else to keep it in.
  }
}

/** What was kept under the name; null: nothing, or it is of another version of this page. */
export function keptText(storage: Storage, name: string): DraftFields | null {
  return parse(storage.getItem(prefix + name))?.fields ?? null
}

export function forgetText(storage: Storage, name: string): void {
  storage.removeItem(prefix + name)
}

/** Forgets what is older than 30 days, and all but the newest 20. */
export function tidyKeptTexts(storage: Storage, now: number): void {
  const names = Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? '').filter(key =>
    key.startsWith(prefix),
  )
  const newestFirst = names.map(key => ({ key, at: parse(storage.getItem(key))?.at ?? 0 })).sort((a, b) => b.at - a.at)
  for (const [position, { key, at }] of newestFirst.entries())
    if (position >= mostKept || now - at > mostAgeMs) storage.removeItem(key)
}

function parse(text: string | null): KeptDraft | null {
  try {
    const value: unknown = JSON.parse(text ?? 'null')
    return isKept(value) ? value : null
  } catch {
    return null
  }
}

function isKept(value: unknown): value is KeptDraft {
  if (typeof value !== 'object' || value === null || !('fields' in value) || !('at' in value)) return false
  const { fields, at } = value as { fields: Partial<DraftFields> | null; at: unknown }
  const areTexts = (list: unknown) => Array.isArray(list) && list.every(text => typeof text === 'string')
  return (
    typeof at === 'number' &&
    typeof fields === 'object' &&
    fields !== null &&
    [fields.from, fields.subject, fields.text].every(text => typeof text === 'string') &&
    [fields.to, fields.cc, fields.bcc].every(areTexts)
  )
}
