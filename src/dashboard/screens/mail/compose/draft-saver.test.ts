import { expect, test } from 'bun:test'
import { blankDraft, type DraftFields } from './draft-fields.ts'
import { createDraftSaver, type DraftStore, type SaveState } from './draft-saver.ts'

const typed = (text: string): DraftFields => ({ ...blankDraft, text })

/** A server of one draft that counts its versions; what `answers` holds is thrown first. */
function openStore(failures: ('changed' | 'gone' | 'away' | 'refused')[] = []) {
  const requests: string[] = []
  let version = 0
  const reply = async (kind: string, fields: DraftFields) => {
    requests.push(`${kind} ${fields.text}`)
    await Bun.sleep(2)
    const failure = failures.shift()
    if (failure) throw failure
    version++
    return { id: 'drf_1', updatedAt: `v${version}` }
  }
  const store: DraftStore = {
    create: fields => reply('create', fields),
    change: ({ updatedAt }, fields) => reply(`change ${updatedAt}`, fields),
    kindOf: error => error as 'away',
  }
  const states: SaveState['kind'][] = []
  const open = (stored: Parameters<typeof createDraftSaver>[0]['stored'] = null) =>
    createDraftSaver({ store, stored, onState: ({ kind }) => states.push(kind), delayMs: 5, retryMs: 5 })
  return { requests, states, open }
}

test('is saved a moment after the last change, once, and made only when there is something to lose', async () => {
  const { requests, states, open } = openStore()
  const saver = open()
  saver.type(blankDraft)
  saver.type({ ...blankDraft, from: 'a@x.example' })
  await Bun.sleep(20)
  expect(requests).toEqual([])
  for (const text of ['H', 'He', 'Hello']) saver.type(typed(text))
  await Bun.sleep(30)
  expect(requests).toEqual(['create Hello'])
  expect(states.at(-1)).toBe('saved')
  saver.type(typed('Hello!'))
  expect(await saver.flush()).toEqual({ id: 'drf_1', updatedAt: 'v2' })
  expect(requests).toEqual(['create Hello', 'change v1 Hello!'])
})

test('what is typed while a request is under way goes with the next one', async () => {
  const { requests, open } = openStore()
  const saver = open()
  saver.type(typed('a'))
  const first = saver.flush()
  saver.type(typed('ab'))
  await first
  await saver.flush()
  expect(requests).toEqual(['create a', 'change v1 ab'])
})

test('while the server is away it is tried again until it is saved', async () => {
  const { requests, states, open } = openStore(['away', 'away'])
  const saver = open()
  saver.type(typed('a'))
  await Bun.sleep(60)
  expect(requests).toEqual(['create a', 'create a', 'create a'])
  expect(states).toContain('away')
  expect(states.at(-1)).toBe('saved')
})

test('what was changed elsewhere is not overwritten until the person says so', async () => {
  const stored = { draft: { id: 'drf_1', updatedAt: 'v0' }, fields: typed('old') }
  const { requests, states, open } = openStore(['changed'])
  const saver = open(stored)
  saver.type(typed('mine'))
  await Bun.sleep(20)
  saver.type(typed('mine too'))
  await Bun.sleep(20)
  expect(requests).toEqual(['change v0 mine'])
  expect(states.at(-1)).toBe('conflict')
  expect(await saver.flush()).toBeNull()
  expect(await saver.overwrite({ id: 'drf_1', updatedAt: 'v7' })).toEqual({ id: 'drf_1', updatedAt: 'v1' })
  expect(requests.at(-1)).toBe('change v7 mine too')
})

test('what was deleted elsewhere is made anew, or what is stored is taken', async () => {
  const stored = { draft: { id: 'drf_1', updatedAt: 'v0' }, fields: typed('old') }
  const { requests, states, open } = openStore(['gone'])
  const saver = open(stored)
  saver.type(typed('mine'))
  await saver.flush()
  await saver.overwrite(null)
  expect(requests.at(-1)).toBe('create mine')
  saver.accept({ id: 'drf_1', updatedAt: 'v9' }, typed('theirs'))
  saver.type(typed('theirs'))
  await Bun.sleep(20)
  expect(requests).toHaveLength(2)
  expect(states.at(-1)).toBe('saved')
})

test('what the server refuses is not sent again until something else is typed', async () => {
  const { requests, states, open } = openStore(['refused'])
  const saver = open()
  saver.type(typed('bad'))
  await Bun.sleep(40)
  expect(requests).toEqual(['create bad'])
  expect(states.at(-1)).toBe('refused')
  saver.type(typed('good'))
  await Bun.sleep(20)
  expect(requests).toEqual(['create bad', 'create good'])
})

test('nothing is saved after it has ended', async () => {
  const { requests, open } = openStore()
  const saver = open()
  saver.type(typed('a'))
  saver.stop()
  await Bun.sleep(20)
  expect(requests).toEqual([])
})
