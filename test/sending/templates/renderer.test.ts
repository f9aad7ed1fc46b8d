import { afterAll, expect, test } from 'bun:test'
import { openTemplateRenderer } from '../../../src/sending/templates/renderer.ts'

const renderer = openTemplateRenderer()
afterAll(() => renderer.close())

const nothing = { subject: null, text: null, html: null }
/** What the counts of the engine do not see: it ends by the clock. */
const slow = { ...nothing, text: `{% for i in (1..90000) %}{{ a${'.b'.repeat(8000)} }}{% endfor %}` }

test('renders, checks and reports faults', async () => {
  const sources = { subject: 'Hello {{ name }}', text: 'T {{ name }}', html: '<p>{{ name }}</p>' }
  expect(await renderer.render('org', sources, { name: '<Ann>' })).toEqual({
    kind: 'rendered',
    subject: 'Hello <Ann>',
    text: 'T <Ann>',
    html: '<p>&lt;Ann&gt;</p>',
  })
  expect(await renderer.findFault('org', sources)).toBeUndefined()
  expect(await renderer.findFault('org', { ...sources, html: '{% include "a" %}' })).toMatchObject({ part: 'html' })
})

test('leaves the event loop free while a template uses all it may', async () => {
  await renderer.findFault('org', nothing)
  let longest = 0
  let last = performance.now()
  const ticking = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  const rendered = await renderer.render('org', slow, { a: {} })
  clearInterval(ticking)
  expect(rendered).toMatchObject({ kind: 'faulty', fault: { part: 'text' } })
  expect(longest).toBeGreaterThan(0)
  expect(longest).toBeLessThan(150)
})

test('ends a worker that does not answer, and goes on with another', async () => {
  const impatient = openTemplateRenderer({ timeoutMs: 50 })
  await impatient.findFault('org', nothing)
  const startedAt = performance.now()
  expect(await impatient.render('org', slow, { a: {} })).toEqual({
    kind: 'faulty',
    fault: { part: null, what: 'it takes longer than a template may' },
  })
  expect(performance.now() - startedAt).toBeLessThan(400)
  const patient = await impatient.render('org', { ...nothing, text: '{{ a }}' }, { a: 'again' })
  expect(patient).toEqual({ kind: 'rendered', ...nothing, text: 'again' })
  impatient.close()
})

test('serves owners in turn: one with many slow templates does not make the others wait for all of them', async () => {
  const done: string[] = []
  const render = async (owner: string, sources: typeof slow) => {
    await renderer.render(owner, sources, { a: {} })
    done.push(owner)
  }
  const hostile = Array.from({ length: 4 }, () => render('hostile', slow))
  await render('honest', { ...nothing, text: 'x' })
  expect(done.filter(owner => owner === 'hostile').length).toBeLessThanOrEqual(1)
  await Promise.all(hostile)
})

test('fails what is still waiting when it is closed', async () => {
  const closing = openTemplateRenderer()
  await closing.findFault('org', nothing)
  const waiting = closing.render('org', slow, { a: {} })
  await Bun.sleep(0)
  closing.close()
  expect(await waiting).toMatchObject({ kind: 'faulty' })
  expect(await closing.render('org', nothing, {})).toMatchObject({ kind: 'faulty' })
})
