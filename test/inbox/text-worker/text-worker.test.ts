import { afterEach, expect, test } from 'bun:test'
import { openTextWorker, type TextWorker } from '../../../src/inbox/text-worker/text-worker.ts'

let worker: TextWorker

afterEach(() => worker.close())

const paragraph = '<p style="color:red">Hello <b>you</b>, see <a href="https://x.example/">this</a>.</p>\n'
const longHtml = paragraph.repeat(15_000)

test('gives the same on its thread as here', async () => {
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

test('gives up on what takes too long, and goes on with the next', async () => {
  worker = openTextWorker({ timeoutMs: 800 })
  const hopeless = await worker.run('sanitizeHtml', '<p style="font:rgb(1)rgb(1)rgb(1)x\\">'.repeat(55_000), 'block')
  expect(hopeless).toBeNull()
  // A busy machine may take longer than that to start the thread again.
  let next: string | null = null
  for (let i = 0; i < 10 && next === null; i++) next = await worker.run('toSearchText', 'word '.repeat(5000))
  expect(next).toStartWith(' 0word ')
})

test('takes messages apart, each from its own pieces, also when one is not wanted to its end', async () => {
  worker = openTextWorker()
  async function* pieces(name: string, line: string) {
    yield Buffer.from(`From: ${name}@x.test\r\nSubject: ${name}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`)
    for (let i = 0; i < 20; i++) {
      yield Buffer.from(line.repeat(1000))
      await Bun.sleep(i % 3)
    }
  }
  const names = Array.from({ length: 12 }, (_, i) => `n${i}`)
  const outlines = await Promise.all(
    names.map((name, i) => worker.readSummary(pieces(name, i % 2 ? '--b\r\n\r\n\r\n' : `${name}\r\n`))),
  )
  expect(outlines.map(outline => outline?.subject)).toEqual(names)
  expect(outlines.map(outline => outline?.problem === null)).toEqual(names.map((_, i) => i % 2 === 0))
  async function* broken() {
    yield Buffer.from('From: a@x.test\r\n')
    throw new Error('the disk is gone')
  }
  const failure = worker.readSummary(broken()).catch((error: Error) => error.message)
  expect(await failure).toBe('the disk is gone')
  expect((await worker.readSummary(pieces('next', 'x\r\n')))?.subject).toBe('next')
})

test('gives nothing once it is closed', async () => {
  worker = openTextWorker()
  const pending = [worker.run('sanitizeHtml', longHtml, 'block'), worker.run('sanitizeHtml', longHtml, 'allow')]
  await Bun.sleep(10)
  worker.close()
  expect(await Promise.all(pending)).toEqual([null, null])
})
