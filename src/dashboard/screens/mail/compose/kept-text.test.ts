import { expect, test } from 'bun:test'
import { blankDraft } from './draft-fields.ts'
import { forgetText, keepText, keptText, tidyKeptTexts } from './kept-text.ts'

/** The Storage of a browser, with room for so many characters. */
function memoryStorage(room = 100_000): Storage {
  const entries = new Map<string, string>()
  return {
    get length() {
      return entries.size
    },
    clear: () => entries.clear(),
    getItem: key => entries.get(key) ?? null,
    key: index => [...entries.keys()][index] ?? null,
    removeItem: key => void entries.delete(key),
    setItem(key, value) {
      if (value.length > room) throw new Error('QuotaExceededError')
      entries.set(key, value)
    },
  }
}

const typed = { ...blankDraft, text: 'Hello', to: ['a@x.example'] }

test('what was typed is there again until it is forgotten', () => {
  const storage = memoryStorage()
  keepText(storage, 'drf_1', typed, 1)
  expect(keptText(storage, 'drf_1')).toEqual(typed)
  expect(keptText(storage, 'drf_2')).toBeNull()
  forgetText(storage, 'drf_1')
  expect(keptText(storage, 'drf_1')).toBeNull()
})

test('a full storage and what another version wrote do no harm', () => {
  const storage = memoryStorage(500)
  keepText(storage, 'long', { ...typed, text: 'x'.repeat(1000) }, 1)
  expect(keptText(storage, 'long')).toBeNull()
  for (const text of ['', '{', '7', '{"fields":null,"at":1}', '{"fields":{"text":1},"at":1}']) {
    storage.setItem('mailroom.kept.odd', text)
    expect(keptText(storage, 'odd')).toBeNull()
  }
})

test('the newest 20 of the last 30 days stay, and nothing else of the page is touched', () => {
  const storage = memoryStorage()
  const day = 86_400_000
  storage.setItem('mailroom.theme', 'dark')
  for (let i = 0; i < 25; i++) keepText(storage, `n${i}`, typed, 100 * day + i)
  keepText(storage, 'old', typed, 60 * day)
  tidyKeptTexts(storage, 101 * day)
  expect(keptText(storage, 'n24')).not.toBeNull()
  expect([keptText(storage, 'n4'), keptText(storage, 'old')]).toEqual([null, null])
  expect(storage.length).toBe(21)
})
