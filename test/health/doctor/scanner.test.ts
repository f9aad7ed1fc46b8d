import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startClamd } from '../../../src/cli/private/clamd.ts'
import { type DoctorFixtures, openDoctorFixtures } from './fixtures.ts'

let doctor: DoctorFixtures

beforeAll(async () => {
  doctor = await openDoctorFixtures()
})
afterAll(() => doctor.close())

/** A clamd that answers as this one did somewhere, to VERSION and STATS. */
async function withAnswers(answers: Readonly<Record<string, string>>, work: (address: string) => Promise<void>) {
  const server = createServer(socket => {
    socket.on('error', () => socket.destroy())
    socket.on('data', chunk => socket.end(`${answers[String(chunk).replace(/^z|\0/g, '')] ?? 'UNKNOWN COMMAND'}\0`))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  try {
    await work(`tcp:127.0.0.1:${typeof address === 'object' ? address?.port : 0}`)
  } finally {
    await new Promise(resolve => server.close(resolve))
  }
}

function version(daysAgo: number): string {
  const at = new Date(Date.now() - daysAgo * 86_400_000)
  const [weekday, day, month, year, time] = at.toUTCString().replace(',', '').split(' ')
  return `ClamAV 1.4.3/27480/${weekday} ${month} ${day?.replace(/^0/, ' ')} ${time} ${year}`
}

test('a real clamd answers, accepts our largest message and has enough threads', async () => {
  expect(await doctor.run('clamd')).toMatchObject({ level: 'ok' })
  expect(await doctor.run('scan_size')).toMatchObject({ level: 'ok', seen: 'clamd accepts messages of 35 MiB' })
  expect(await doctor.run('scan_threads')).toMatchObject({
    level: 'ok',
    seen: expect.stringContaining('clamd scans up to 16'),
  })
  expect((await doctor.run('scan_memory')).seen).toContain('signatures take')
  // This one knows EICAR only.
  expect(await doctor.run('signatures')).toMatchObject({
    level: 'warning',
    seen: expect.stringContaining('no official signatures'),
    todo: expect.stringContaining('freshclam'),
  })
})

test('a real clamd that accepts less than our largest message, or fewer scans at once, is reported with the settings to change', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-doctor-clamd-'))
  const clamd = await startClamd({ folder, settings: { StreamMaxLength: '1M', MaxThreads: '4' } })
  try {
    const settings = { MAILROOM_CLAMD: clamd.address }
    expect(await doctor.run('scan_size', settings)).toMatchObject({
      level: 'error',
      seen: expect.stringMatching(/35 MiB: .*size limit exceeded/),
      todo: expect.stringContaining('StreamMaxLength'),
    })
    expect(await doctor.run('scan_threads', settings)).toMatchObject({
      level: 'warning',
      todo: expect.stringContaining('MaxThreads'),
    })
  } finally {
    await clamd.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a clamd that is away is reported once, with what happens to mail meanwhile', async () => {
  const away = { MAILROOM_CLAMD: 'unix:/nonexistent/clamd.ctl' }
  expect(await doctor.run('clamd', away)).toMatchObject({
    level: 'error',
    seen: expect.stringContaining('/nonexistent/clamd.ctl'),
    todo: expect.stringContaining('quarantine'),
  })
  expect(await doctor.run('clamd', { ...away, MAILROOM_UNSCANNED: 'defer' })).toMatchObject({
    todo: expect.stringContaining('451'),
  })
  for (const name of ['signatures', 'scan_size', 'scan_threads', 'scan_memory'])
    expect((await doctor.run(name, away)).level).toBe('skipped')
})

test('old signatures are reported with their age', async () => {
  const levelAt = (days: number) => {
    let level: string | undefined
    return withAnswers({ VERSION: version(days) }, async address => {
      const found = await doctor.run('signatures', { MAILROOM_CLAMD: address })
      expect(found.seen).toContain('ClamAV 1.4.3, signatures 27480')
      level = found.level
    }).then(() => level)
  }
  expect(await levelAt(0)).toBe('ok')
  expect(await levelAt(2)).toBe('ok')
  expect(await levelAt(6)).toBe('warning')
  expect(await levelAt(40)).toBe('error')
})

test('signatures that do not fit into memory twice are a note', () => {
  const stats =
    'POOLS: 1\n\nSTATE: VALID PRIMARY\nMEMSTATS: heap N/A pools_used 99999999.0M pools_total 99999999.9M\nEND'
  return withAnswers({ STATS: stats }, async address => {
    expect(await doctor.run('scan_memory', { MAILROOM_CLAMD: address })).toMatchObject({
      level: 'note',
      todo: expect.stringContaining('ConcurrentDatabaseReload no'),
    })
  })
})
