import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { type Clock, plusMs, systemClock } from '../../src/base/clock.ts'
import { startJob } from '../../src/base/concurrency/background-job.ts'
import { type ClamdAddress, readConfig } from '../../src/base/config/config.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { clamdScanner } from '../../src/ports/scanner/clamd.ts'
import type { Scanner } from '../../src/ports/scanner/port.ts'
import { rescanDue, rescanRound } from '../../src/receiving/rescan/rescan.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'
import { inboundPipeline, inMemory, log, mailTo, message, messagesOf, type Receiver, receiver } from './fixtures.ts'

let database: FreshDatabase
let ours: Receiver

beforeAll(async () => {
  database = await freshDatabase()
})

afterAll(() => database.close())

function clamd(): ClamdAddress {
  return readConfig({ MAILROOM_CLAMD: process.env['MAILROOM_TEST_CLAMD'], MAILROOM_PROVIDER: 'sandbox' }).clamd
}

function scannerAt(address: ClamdAddress, timeoutMs = 10_000): Scanner {
  return clamdScanner({ address, timeoutMs, maxConcurrentScans: 4 })
}

async function receive(raw: string, scanner: Scanner, scanWaitMs = 0) {
  ours = await receiver(database)
  await ours.mailbox('hello')
  const inbound = inboundPipeline(ours, { scanner, scanWaitMs })
  const recipient = await inbound.findRecipient(`hello@${ours.domain}`)
  await inbound.receive(mailTo([recipient], inMemory(raw)))
  return await filed()
}

async function filed() {
  const [row] = await messagesOf(ours)
  if (!row) throw new Error('nothing was filed')
  const attachments = await database.db
    .selectFrom('attachments')
    .selectAll()
    .where('message_id', '=', row.id)
    .orderBy('position')
    .execute()
  return {
    row,
    attachments: attachments.map(
      attachment => [attachment.filename, attachment.scan, attachment.scan_signature] as const,
    ),
  }
}

const eicar = Buffer.from(`X5O!P%@AP[4\\PZX54(P^)7CC)7}$${'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'}`)

function part(filename: string, content: Buffer): string {
  const base64 = content.toString('base64').replace(/.{76}/g, '$&\r\n')
  return [
    '--b',
    `Content-Type: application/octet-stream; name="${filename}"`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="${filename}"`,
    '',
    base64,
    '',
  ].join('\r\n')
}

const nowhere: ClamdAddress = { kind: 'unix', path: '/nonexistent/clamd' }

function later(hours: number): Clock {
  return { now: () => plusMs(systemClock.now(), hours * 3_600_000) }
}

function rescanning(scanner: Scanner, clock: Clock) {
  const { db } = database
  return { db, blobs: mysqlBlobs(db, systemClock), scanner, scanAttachments: 'decoded', clock, log } as const
}

const mixed = ['Content-Type: multipart/mixed; boundary=b']
const clean = part('clean.bin', randomBytes(200_000))

describe('what clamd finds', () => {
  test('nothing: into the inbox', async () => {
    const { row, attachments } = await receive(message(mixed, `${clean}--b--\r\n`), scannerAt(clamd()))
    expect(row).toMatchObject({ folder: 'inbox', scan: 'clean' })
    expect(attachments).toEqual([['clean.bin', 'clean', null]])
  })

  test('a virus in one of several attachments: into quarantine, with that attachment marked', async () => {
    const body = `${clean}${part('evil.com', eicar)}${part('after.bin', randomBytes(300_000))}--b--\r\n`
    const { row, attachments } = await receive(message(mixed, body), scannerAt(clamd()))
    expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected', rescan_at: null })
    expect(row.scan_signature).toContain('Eicar')
    expect(attachments).toEqual([
      ['clean.bin', 'clean', null],
      ['evil.com', 'infected', row.scan_signature],
      ['after.bin', 'clean', null],
    ])
  })

  test('a virus inside a forwarded message: that message is marked', async () => {
    const inner = message(mixed, `${part('evil.com', eicar)}--b--\r\n`)
    const outer = ['Content-Type: multipart/mixed; boundary=outer']
    const body = `--outer\r\n\r\nlook\r\n--outer\r\nContent-Type: message/rfc822\r\n\r\n${inner}\r\n--outer--\r\n`
    const { row, attachments } = await receive(message(outer, body), scannerAt(clamd()))
    expect(row).toMatchObject({ folder: 'quarantine', scan: 'infected' })
    expect(attachments).toEqual([['message-1.eml', 'infected', row.scan_signature]])
  })
})

describe('finds a virus that we find though the message is malformed:', () => {
  const evil = part('evil.com', eicar)
  const uuencoded = ['begin 644 evil.com', ...uuLinesOf(eicar), '`', 'end', ''].join('\r\n')
  const odd: Readonly<Record<string, string>> = {
    'padding after the delimiters': message(mixed, `--b \r\n\r\nhi\r\n${evil.replace('--b', '--b \t')}--b-- \r\n`),
    'long padding after the delimiters': message(mixed, `${evil.replace('--b', `--b${' '.repeat(3000)}`)}--b--\r\n`),
    'a boundary with blanks at its end': message(['Content-Type: multipart/mixed; boundary="b  "'], `${evil}--b--\r\n`),
    'no semicolon before the boundary': message(['Content-Type: multipart/mixed boundary=b'], `${evil}--b--\r\n`),
    'an inner multipart that is not closed': message(
      mixed,
      `--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\n\r\nhi\r\n${evil}--b--\r\n`,
    ),
    'a comma before the boundary': message(['Content-Type: multipart/mixed, boundary=b'], `${evil}--b--\r\n`),
    'a multipart without a subtype': message(['Content-Type: multipart; boundary=b'], `${evil}--b--\r\n`),
    'a semicolon after base64': message(
      ['Content-Type: application/x-msdownload; name=evil.com', 'Content-Transfer-Encoding: base64;'],
      eicar.toString('base64'),
    ),
    'a header that ends with a line of one blank': message(
      ['Content-Type: application/x-msdownload; name=evil.com', 'Content-Transfer-Encoding: base64'],
      eicar.toString('base64'),
    ).replace('\r\n\r\n', '\r\n \r\n'),
    uuencode: message(
      ['Content-Type: application/x-msdownload; name=evil.com', 'Content-Transfer-Encoding: x-uuencode'],
      uuencoded,
    ),
    'uuencode by another name, in a part': message(
      mixed,
      `--b\r\nContent-Type: x; name=evil.com\r\nContent-Transfer-Encoding: uue\r\n\r\n${uuencoded}--b--\r\n`,
    ),
  }
  for (const [what, raw] of Object.entries(odd))
    test(what, async () => {
      const { row, attachments } = await receive(raw, scannerAt(clamd()))
      expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
      expect(attachments).toEqual([['evil.com', 'infected', row.scan_signature]])
    })

  test('also in a later scan', async () => {
    const raw = odd['no semicolon before the boundary'] ?? ''
    const { row } = await receive(raw, scannerAt(nowhere))
    expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned' })
    await rescanDue(rescanning(scannerAt(clamd()), later(1)))
    const again = await filed()
    expect(again.row).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
    expect(again.attachments).toEqual([['evil.com', 'infected', again.row.scan_signature]])
  })

  test('and none where there is none', async () => {
    const { row, attachments } = await receive(
      message(['Content-Type: multipart/mixed boundary=b'], `${clean}--b--\r\n`),
      scannerAt(clamd()),
    )
    expect(row).toMatchObject({ folder: 'inbox', scan: 'clean' })
    expect(attachments).toEqual([['clean.bin', 'clean', null]])
  })

  test('unless the scanner has no verdict on an attachment', async () => {
    const scanner: Scanner = {
      scan: what =>
        Promise.resolve(
          what.kind === 'stream' ? { kind: 'unscanned', why: 'limits', isPermanent: true } : { kind: 'clean' },
        ),
      isReady: () => Promise.resolve(true),
    }
    const { row } = await receive(message(['Content-Type: multipart/mixed boundary=b'], `${clean}--b--\r\n`), scanner)
    expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error' })
  })
})

function uuLinesOf(bytes: Buffer): readonly string[] {
  const character = (sextet: number) => String.fromCharCode(sextet === 0 ? 0x60 : 0x20 + sextet)
  return Array.from({ length: Math.ceil(bytes.length / 45) }, (_, i) => {
    const line = bytes.subarray(i * 45, i * 45 + 45)
    const groups = Array.from({ length: Math.ceil(line.length / 3) }, (_, at) =>
      Buffer.concat([line, Buffer.alloc(3)]).readUIntBE(at * 3, 3),
    )
    return (
      character(line.length) +
      groups.flatMap(bits => [18, 12, 6, 0].map(shift => character((bits >> shift) & 0x3f))).join('')
    )
  })
}

test('files an infected message whose attachments the scanner does not read to their end', async () => {
  let streams = 0
  const impatient: Scanner = {
    async scan(what) {
      if (what.kind !== 'stream') return { kind: 'infected', signature: 'Evil' }
      what.stream.destroy()
      return ++streams === 1 ? { kind: 'unscanned', why: 'out of time' } : { kind: 'infected', signature: 'Evil' }
    },
    isReady: () => Promise.resolve(true),
  }
  const body = `${part('one.bin', randomBytes(500_000))}${part('two.bin', randomBytes(100))}--b--\r\n`
  const { row, attachments } = await receive(message(mixed, body), impatient)
  expect(row).toMatchObject({ folder: 'quarantine', scan: 'infected', scan_signature: 'Evil', attachment_count: 2 })
  expect(attachments).toEqual([
    ['one.bin', 'error', null],
    ['two.bin', 'infected', 'Evil'],
  ])
})

describe('a scanner that is unavailable', () => {
  test('puts a clean message in quarantine, which is released once the scanner is back', async () => {
    const { row, attachments } = await receive(message(mixed, `${clean}--b--\r\n`), scannerAt(nowhere))
    expect(row).toMatchObject({
      folder: 'quarantine',
      folder_reason: 'unscanned',
      scan: 'error',
      release_folder: 'inbox',
    })
    expect(attachments).toEqual([['clean.bin', 'error', null]])
    const away = scannerAt(nowhere)
    expect(await rescanDue(rescanning(away, later(1)))).toBe(0)
    expect(await rescanDue(rescanning(scannerAt(clamd()), systemClock))).toBe(0)
    expect(await rescanDue(rescanning(scannerAt(clamd()), later(1)))).toBe(1)
    const after = await filed()
    expect(after.row).toMatchObject({
      folder: 'inbox',
      folder_reason: 'accepted',
      scan: 'clean',
      rescan_at: null,
      release_folder: null,
    })
    expect(after.attachments).toEqual([['clean.bin', 'clean', null]])
  })

  test('releases no infected message once it is back', async () => {
    await receive(message(mixed, `${clean}${part('evil.com', eicar)}--b--\r\n`), scannerAt(nowhere))
    expect(await rescanDue(rescanning(scannerAt(clamd()), later(1)))).toBe(1)
    const { row, attachments } = await filed()
    expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected', rescan_at: null })
    expect(attachments).toEqual([
      ['clean.bin', 'clean', null],
      ['evil.com', 'infected', row.scan_signature],
    ])
  })

  test('leaves a message that was moved meanwhile where it is', async () => {
    const { row } = await receive(message(), scannerAt(nowhere))
    await database.db.updateTable('messages').set({ folder: 'archive' }).where('id', '=', row.id).execute()
    await rescanDue(rescanning(scannerAt(clamd()), later(1)))
    expect((await filed()).row).toMatchObject({ folder: 'archive', scan: 'clean' })
  })

  test('is asked again at growing intervals, and in the end no more', async () => {
    const { row } = await receive(message(), scannerAt(nowhere))
    const stubborn: Scanner = {
      scan: () => Promise.resolve({ kind: 'unscanned', why: 'limits' }),
      isReady: () => Promise.resolve(true),
    }
    const waits: (number | null)[] = []
    for (const hours of [0.1, 0.5, 3, 24 * 15]) {
      const clock = later(hours)
      await rescanDue(rescanning(stubborn, clock))
      const { rescan_at } = (await filed()).row
      waits.push(rescan_at && Math.round((Date.parse(`${rescan_at}Z`) - Date.parse(`${clock.now()}Z`)) / 60_000))
    }
    expect(waits).toEqual([6, 30, 60, null])
    expect((await filed()).row).toMatchObject({ id: row.id, folder: 'quarantine', scan: 'error' })
  })

  test('is not asked again about a message beyond its limits', async () => {
    let scans = 0
    const limited: Scanner = {
      scan() {
        scans++
        return Promise.resolve({ kind: 'unscanned', why: 'limits', isPermanent: true })
      },
      isReady: () => Promise.resolve(true),
    }
    const { row } = await receive(message(), limited, 5000)
    expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error', rescan_at: null })
    expect(scans).toBe(1)

    const waiting = await receive(message(), scannerAt(nowhere))
    await rescanDue(rescanning(limited, later(1)))
    const again = await filed()
    expect([scans, waiting.row.rescan_at !== null, again.row.rescan_at]).toEqual([2, true, null])
  })

  test('is not asked at all about a message with more parts than it scans', async () => {
    let scans = 0
    const counting: Scanner = {
      scan() {
        scans++
        return Promise.resolve({ kind: 'clean' })
      },
      isReady: () => Promise.resolve(true),
    }
    const bomb = await receive(message(mixed, '--b\r\n\r\nhi\r\n'.repeat(10_001)), counting)
    expect(bomb.row).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', rescan_at: null })
    expect(scans).toBe(0)
    const many = await receive(message(mixed, '--b\r\n\r\nhi\r\n'.repeat(9000)), counting)
    const dashes = await receive(message([], '-- a line of SQL\r\n'.repeat(300_000)), counting)
    expect([many.row.folder, dashes.row.folder, scans]).toEqual(['inbox', 'inbox', 2])
  })

  test('is asked by one of several processes at a time', async () => {
    await receive(message(), scannerAt(nowhere))
    const processes = 4
    let scans = 0
    let asking = 0
    const counting: Scanner = {
      async scan() {
        scans++
        return { kind: 'clean' }
      },
      // All of them have selected the message before one claims it.
      isReady() {
        asking++
        return until(() => asking === processes)
      },
    }
    await Promise.all(Array.from({ length: processes }, () => rescanDue(rescanning(counting, later(1)))))
    expect(scans).toBe(1)
  })

  test('that comes back while the message waits does not delay it further', async () => {
    const path = `/tmp/clamd-${randomBytes(6).toString('hex')}`
    const { server, accepted } = await relayLater(path, 300)
    const { row } = await receive(message(), scannerAt({ kind: 'unix', path }), 5000)
    expect(row).toMatchObject({ folder: 'inbox', scan: 'clean' })
    expect(accepted()).toBeGreaterThan(0)
    server.close()
  })

  test('is noticed by the background job', async () => {
    await receive(message(), scannerAt(nowhere))
    const deps = rescanning(scannerAt(clamd()), later(1))
    const loop = startJob({ name: 'rescan', intervalMs: 5000, log: deps.log }, signal => rescanRound(deps, signal))
    await until(async () => (await filed()).row.scan === 'clean')
    await loop.stop()
    expect((await filed()).row).toMatchObject({ folder: 'inbox', scan: 'clean' })
  })
})

/** Opens a relay to the real clamd after a while. */
async function relayLater(path: string, afterMs: number): Promise<{ server: Server; accepted(): number }> {
  const { connect } = await import('node:net')
  let accepted = 0
  const address = clamd()
  const server = createServer(socket => {
    accepted++
    const onward = address.kind === 'unix' ? connect(address.path) : connect(address.port, address.host)
    socket.pipe(onward).pipe(socket)
    socket.on('error', () => onward.destroy())
    onward.on('error', () => socket.destroy())
  })
  setTimeout(() => server.listen(path), afterMs)
  await Promise.race([once(server, 'listening'), Bun.sleep(0)])
  return { server, accepted: () => accepted }
}
