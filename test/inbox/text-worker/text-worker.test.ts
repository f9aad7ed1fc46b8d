import { afterEach, expect, test } from 'bun:test'
import { openTextWorker, type TextWorker } from '../../../src/inbox/text-worker/text-worker.ts'

let worker: TextWorker

afterEach(() => worker.close())

const paragraph = '<p style="color:red">Hello <b>you</b>, see <a href="https://x.example/">this</a>.</p>\n'
const longHtml = paragraph.repeat(15_000)

test('gives the same results on the worker as on this thread', async () => {
  worker = openTextWorker()
  const bad = '<script>x</script>'
  const [short, long, ...words] = await Promise.all([
    worker.run('sanitizeHtml', paragraph + bad, 'block'),
    worker.run('sanitizeHtml', longHtml + bad, 'block'),
    worker.run('toSearchText', 'Ein Wort'),
    worker.run('toSearchText', 'Ein Wort '.repeat(5000)),
  ])
  expect(long).toBe((short ?? '').repeat(15_000))
  expect(words).toEqual([' 0ein 0wort ', ` ${'0ein 0wort '.repeat(5000)}`])
  expect(await worker.run('replyTextOf', `Yes.\n-- \n${'x'.repeat(100_000)}`)).toBe('Yes.')
  expect(await worker.run('sanitizeHtml', 'x'.repeat(3_000_000), 'block')).toBeNull()
})

test('leaves the event loop free', async () => {
  worker = openTextWorker()
  await worker.run('sanitizeHtml', longHtml, 'block')
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await worker.run('sanitizeHtml', longHtml, 'block')
  clearInterval(timer)
  expect(turns).toBeGreaterThan(10)
})

test('gives null for a task that takes too long, and runs the next one', async () => {
  worker = openTextWorker({ timeoutMs: 800 })
  const hopeless = await worker.run('sanitizeHtml', '<div>'.repeat(400_000), 'block')
  expect(hopeless).toBeNull()
  // A busy machine may take longer than that to start the thread again.
  let next: string | null = null
  for (let i = 0; i < 10 && next === null; i++) next = await worker.run('toSearchText', 'word '.repeat(5000))
  expect(next).toStartWith(' 0word ')
})

test('parses messages, each from its own chunks, also when one is not read to its end', async () => {
  worker = openTextWorker()
  async function* chunks(name: string, line: string) {
    yield Buffer.from(`From: ${name}@x.test\r\nSubject: ${name}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`)
    for (let i = 0; i < 20; i++) {
      yield Buffer.from(line.repeat(1000))
      await Bun.sleep(i % 3)
    }
  }
  const names = Array.from({ length: 12 }, (_, i) => `n${i}`)
  const summaries = await Promise.all(
    names.map((name, i) => worker.readSummary(chunks(name, i % 2 ? '--b\r\n\r\n\r\n' : `${name}\r\n`))),
  )
  expect(summaries.map(summary => summary?.subject)).toEqual(names)
  expect(summaries.map(summary => summary?.problem === null)).toEqual(names.map((_, i) => i % 2 === 0))
  async function* broken() {
    yield Buffer.from('From: a@x.test\r\n')
    throw new Error('the disk is gone')
  }
  const failure = worker.readSummary(broken()).catch((error: Error) => error.message)
  expect(await failure).toBe('the disk is gone')
  expect((await worker.readSummary(chunks('next', 'x\r\n')))?.subject).toBe('next')
})

test('gives null once it is closed', async () => {
  worker = openTextWorker()
  const pending = [worker.run('sanitizeHtml', longHtml, 'block'), worker.run('sanitizeHtml', longHtml, 'allow')]
  // So that the first is running, and not only waiting for the worker to start.
  await Bun.sleep(10)
  worker.close()
  expect(await Promise.all(pending)).toEqual([null, null])
})
