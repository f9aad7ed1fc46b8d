import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { plusMs, systemClock } from '../../src/base/clock.ts'
import { type ClamdAddress, readConfig } from '../../src/base/config/config.ts'
import { type PrivateClamd, startClamd } from '../../src/cli/private/clamd.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { clamdScanner } from '../../src/ports/scanner/clamd.ts'
import type { ScanInput, Scanner } from '../../src/ports/scanner/port.ts'
import { rescanDue } from '../../src/receiving/rescan/rescan.ts'
import type { ScanAttachments } from '../../src/receiving/scan.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { inboundPipeline, inMemory, log, mailTo, message, messagesOf, type Receiver, receiver } from './fixtures.ts'

// Large attachments come to the scanner decoded; where there is any doubt, the message comes as it is.

let database: FreshDatabase
let ours: Receiver
const folder = mkdtempSync(join(tmpdir(), 'infected-'))

beforeAll(async () => {
  database = await freshDatabase()
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await database.close()
})

const { clamd } = readConfig({ MAILROOM_CLAMD: process.env['MAILROOM_TEST_CLAMD'], MAILROOM_PROVIDER: 'sandbox' })

function scannerAt(address: ClamdAddress): Scanner {
  return clamdScanner({ address, timeoutMs: 20_000, maxConcurrentScans: 4 })
}

/** The real clamd, and what it was given. */
function watchedScanner() {
  const inputs: ScanInput[] = []
  const scanner = scannerAt(clamd)
  const watched: Scanner = {
    ...scanner,
    scan(input) {
      inputs.push(input)
      return scanner.scan(input)
    },
  }
  return { scanner: watched, inputs }
}

interface Received {
  readonly scanner: Scanner
  readonly scanAttachments?: ScanAttachments
  readonly scanWaitMs?: number
  /** As past 256 KiB. */
  readonly inFile?: boolean
}

async function receive(raw: string, { inFile = false, ...deps }: Received) {
  ours = await receiver(database)
  await ours.mailbox('hello')
  const inbound = inboundPipeline(ours, deps)
  const recipient = await inbound.findRecipient(`hello@${ours.domain}`)
  const bytes = Buffer.from(raw, 'latin1')
  const path = join(folder, randomBytes(6).toString('hex'))
  if (inFile) await Bun.write(path, bytes)
  const content = inFile ? ({ kind: 'file', path, size: bytes.length } as const) : inMemory(bytes)
  await inbound.receive(mailTo([recipient], content))
  return await filed()
}

async function filed() {
  const [row] = await messagesOf(ours)
  if (!row) throw new Error('nothing was filed')
  const attachments = await database.db
    .selectFrom('attachments')
    .select(['filename', 'scan'])
    .where('message_id', '=', row.id)
    .orderBy('position')
    .execute()
  return { row, attachments: attachments.map(({ filename, scan }) => [filename, scan] as const) }
}

const eicar = Buffer.from(`X5O!P%@AP[4\\PZX54(P^)7CC)7}$${'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'}`)

/** A ZIP archive of files that are not compressed (APPNOTE.TXT of PKWARE). */
function zip(files: Readonly<Record<string, Buffer>>): Buffer {
  const local: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [name, bytes] of Object.entries(files)) {
    const common = Buffer.alloc(26)
    common.writeUInt16LE(10, 0)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(bytes.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(name.length, 22)
    const entry = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), bytes])
    const more = Buffer.alloc(14)
    more.writeUInt32LE(offset, 10)
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, more, Buffer.from(name)]))
    local.push(entry)
    offset += entry.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(central.length, 4)
  end.writeUInt16LE(central.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...local, directory, Buffer.from('PK\x05\x06'), end])
}

const infectedZip = (size: number) => zip({ 'filler.bin': randomBytes(size), 'evil.com': eicar })
const encode = (bytes: Buffer, width = 76) =>
  bytes.toString('base64').replace(new RegExp(`.{${width}}(?!$)`, 'g'), '$&\r\n')

function part(filename: string, body: string, ...more: readonly string[]): string {
  return [
    `Content-Type: application/octet-stream; name="${filename}"`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="${filename}"`,
    ...more,
    '',
    body,
  ].join('\r\n')
}

const multipart = (boundary: string, ...parts: readonly string[]) =>
  `${parts.map(each => `--${boundary}\r\n${each}\r\n`).join('')}--${boundary}--\r\n`
const mixed = ['Content-Type: multipart/mixed; boundary=b']
const mail = (...parts: readonly string[]) => message(mixed, multipart('b', '\r\nwords', ...parts))
const clean = part('clean.bin', encode(randomBytes(90_000)))
const sizes = (inputs: readonly ScanInput[]) => inputs.map(input => (input.kind === 'stream' ? 'stream' : input.size))

describe('a virus is found, and the attachment with it is told,', () => {
  test('in an archive of 100 KB, which clamd gets decoded beside the message without it', async () => {
    const { scanner, inputs } = watchedScanner()
    const archive = infectedZip(100_000)
    const raw = mail(clean, part('evil.zip', encode(archive)))
    const { row, attachments } = await receive(raw, { scanner })
    expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
    expect(attachments).toEqual([
      ['clean.bin', 'clean'],
      ['evil.zip', 'infected'],
    ])
    const without = raw.length - encode(archive).length - encode(randomBytes(90_000)).length
    expect(sizes(inputs)).toEqual([without, 90_000, archive.length, 'stream', 'stream'])
  })

  test('in an archive of 4 MB, of a message in a file', async () => {
    const { scanner, inputs } = watchedScanner()
    const raw = mail(clean, part('evil.zip', encode(infectedZip(4_000_000))))
    const { row, attachments } = await receive(raw, { scanner, inFile: true })
    expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
    expect(attachments).toEqual([
      ['clean.bin', 'clean'],
      ['evil.zip', 'infected'],
    ])
    expect(sizes(inputs)).toEqual(['stream', 'stream', 'stream', 'stream', 'stream'])
  })

  test('in a small attachment beside a large one', async () => {
    for (const inFile of [false, true]) {
      const raw = mail(clean, part('evil.com', encode(eicar)))
      const { attachments } = await receive(raw, { scanner: scannerAt(clamd), inFile })
      expect(attachments).toEqual([
        ['clean.bin', 'clean'],
        ['evil.com', 'infected'],
      ])
    }
  })

  test('in a forwarded message, whose parts stay in it', async () => {
    const inner = message(mixed, multipart('b', part('evil.zip', encode(infectedZip(100_000)))))
    const raw = message(
      ['Content-Type: multipart/mixed; boundary=outer'],
      multipart('outer', clean, `Content-Type: message/rfc822\r\n\r\n${inner}`),
    )
    const { attachments } = await receive(raw, { scanner: scannerAt(clamd) })
    expect(attachments).toEqual([
      ['clean.bin', 'clean'],
      ['message-2.eml', 'infected'],
    ])
  })

  test('in a forwarded message in base64', async () => {
    const inner = message(mixed, multipart('b', part('evil.zip', encode(infectedZip(100_000)))))
    const raw = mail(part('fwd.eml', encode(Buffer.from(inner, 'latin1'))), clean)
    const { attachments } = await receive(raw, { scanner: scannerAt(clamd) })
    expect(attachments).toEqual([
      ['fwd.eml', 'infected'],
      ['clean.bin', 'clean'],
    ])
  })

  test('in a later scan', async () => {
    const raw = mail(clean, part('evil.zip', encode(infectedZip(600_000))))
    const nowhere = scannerAt({ kind: 'unix', path: '/nonexistent/clamd' })
    expect((await receive(raw, { scanner: nowhere })).row).toMatchObject({ folder_reason: 'unscanned' })
    const { scanner, inputs } = watchedScanner()
    const clock = { now: () => plusMs(systemClock.now(), 3_600_000) }
    const { db } = database
    await rescanDue({ db, blobs: mysqlBlobs(db, systemClock), scanner, scanAttachments: 'decoded', clock, log })
    const { row, attachments } = await filed()
    expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
    expect(attachments).toEqual([
      ['clean.bin', 'clean'],
      ['evil.zip', 'infected'],
    ])
    expect(inputs.length).toBe(5)
  })
})

describe('a message comes to clamd as it is, and its virus is found, with', () => {
  const body = encode(infectedZip(100_000))
  const at = body.indexOf('\r\n', 70_000)
  const doubtful: Readonly<Record<string, string>> = {
    'a blank in a line': mail(part('evil.zip', `${body.slice(0, at - 10)} ${body.slice(at - 10)}`)),
    'no padding': mail(part('evil.zip', encode(infectedZip(100_001)).replace(/=+$/, ''))),
    'bytes after the padding': mail(part('evil.zip', `${encode(infectedZip(100_001))}\r\nAAAA`)),
    'an encoding given twice': mail(part('evil.zip', body, 'Content-Transfer-Encoding: base64')),
    'a type given twice': mail(part('evil.zip', body, 'Content-Type: application/zip')),
    'bare LF': mail(part('evil.zip', body)).replaceAll('\r\n', '\n'),
    'bare LF in the body alone': mail(part('evil.zip', body.replaceAll('\r\n', '\n'))),
    'long lines': mail(part('evil.zip', encode(infectedZip(100_000), 600))),
    'quoted-printable': mail(
      part('evil.zip', quotedPrintable(infectedZip(40_000))).replace(/Encoding: base64/, 'Encoding: quoted-printable'),
    ),
    'base64 in a message of one part': message(
      ['Content-Type: application/zip; name=evil.zip', 'Content-Transfer-Encoding: base64'],
      body,
    ),
  }
  for (const [what, raw] of Object.entries(doubtful))
    test(what, async () => {
      for (const inFile of [false, true]) {
        const { scanner, inputs } = watchedScanner()
        const { row } = await receive(raw, { scanner, inFile })
        expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
        const whole = inputs.filter(input => input.kind !== 'stream')
        expect(sizes(whole)).toEqual([raw.length])
      }
    })

  test('the setting that asks for it', async () => {
    const { scanner, inputs } = watchedScanner()
    const raw = mail(clean, part('evil.zip', body))
    const { row } = await receive(raw, { scanner, scanAttachments: 'encoded' })
    expect(row).toMatchObject({ folder: 'quarantine', scan: 'infected' })
    expect(sizes(inputs)).toEqual([raw.length, 'stream', 'stream'])
  })
})

function quotedPrintable(bytes: Buffer): string {
  const encoded = Array.from(bytes, byte => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`)
  return encoded.join('').replace(/.{72}(?!$)/g, '$&=\r\n')
}

describe('a scan of which one part has no result', () => {
  const raw = mail(clean, part('more.bin', encode(randomBytes(80_000))))

  /** A relay to clamd that closes the connections of which this is true, counted from 1. */
  async function relay(isClosed: (connection: number) => boolean): Promise<{ server: Server; address: ClamdAddress }> {
    const path = join(folder, randomBytes(6).toString('hex'))
    let connections = 0
    const server = createServer((socket: Socket) => {
      socket.on('error', () => undefined)
      if (isClosed(++connections)) return void socket.destroy()
      const onward = clamd.kind === 'unix' ? connect(clamd.path) : connect(clamd.port, clamd.host)
      socket.pipe(onward).pipe(socket)
      onward.on('error', () => socket.destroy())
    })
    await new Promise<void>(resolve => server.listen(path, resolve))
    return { server, address: { kind: 'unix', path } }
  }

  test.each([1, 2, 3])('goes to quarantine when the scanner dies before part %d', async dead => {
    for (const inFile of [false, true]) {
      const { server, address } = await relay(connection => connection === dead)
      const { row } = await receive(raw, { scanner: scannerAt(address), inFile })
      server.close()
      expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error' })
      expect(row.rescan_at).not.toBeNull()
    }
  })

  test('is scanned again, all of it, once the scanner is back', async () => {
    const { server, address } = await relay(connection => connection === 2)
    const { row } = await receive(raw, { scanner: scannerAt(address), scanWaitMs: 5000 })
    server.close()
    expect(row).toMatchObject({ folder: 'inbox', scan: 'clean' })
  })

  test('goes to quarantine for good when a part is beyond the limits', async () => {
    const limited: Scanner = {
      scan: input =>
        Promise.resolve(
          input.kind === 'memory' && input.size === 80_000
            ? { kind: 'unscanned', why: 'limits', isPermanent: true }
            : { kind: 'clean' },
        ),
      isReady: () => Promise.resolve(true),
    }
    const { row } = await receive(raw, { scanner: limited, scanWaitMs: 5000 })
    expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'unscanned', scan: 'error', rescan_at: null })
  })
})

describe('a signature on text is found', () => {
  const marker = 'an unlikely sequence of words'
  let marked: PrivateClamd

  beforeAll(async () => {
    const signatures = join(folder, 'signatures')
    mkdirSync(signatures, { mode: 0o755 })
    chmodSync(folder, 0o755)
    // Any file, anywhere in it.
    writeFileSync(join(signatures, 'marker.ndb'), `Marker:0:*:${Buffer.from(marker).toString('hex')}\n`)
    marked = await startClamd({ folder: join(folder, 'clamd'), signatures })
  }, 60_000)

  afterAll(() => marked.stop())

  const binary = Buffer.concat([randomBytes(50_000), Buffer.from(marker), randomBytes(50_001)])
  const places: Readonly<Record<string, string>> = {
    'in the header': mail(clean).replace('Subject: Hello', `Subject: ${marker}`),
    'in the text': mail(clean).replace('words', marker),
    'in the HTML': mail(clean, `Content-Type: text/html\r\n\r\n<p>${marker}</p>`),
    'in the name of a large attachment': mail(part(marker, encode(randomBytes(90_000)))),
    'after the last part': `${mail(clean)}${marker}\r\n`,
    'in a large attachment': mail(clean, part('a.bin', encode(binary))),
    'in a large attachment that is not canonical': mail(clean, part('a.bin', encode(binary).replace(/=+$/, ''))),
  }
  for (const [where, raw] of Object.entries(places))
    test(where, async () => {
      const { clamd: address } = readConfig({ MAILROOM_CLAMD: marked.address, MAILROOM_PROVIDER: 'sandbox' })
      for (const inFile of [false, true]) {
        const { row } = await receive(raw, { scanner: scannerAt(address), inFile })
        expect(row).toMatchObject({ folder: 'quarantine', folder_reason: 'infected', scan: 'infected' })
        expect(row.scan_signature).toContain('Marker')
      }
      const without = raw.replaceAll(marker, 'other words').replaceAll(encode(binary).slice(0, 60_000), '')
      expect((await receive(without, { scanner: scannerAt(address) })).row).toMatchObject({ scan: 'clean' })
    })
})

test('a message with large attachments and no virus goes to the inbox', async () => {
  for (const inFile of [false, true]) {
    const { row, attachments } = await receive(mail(clean, clean), { scanner: scannerAt(clamd), inFile })
    expect(row).toMatchObject({ folder: 'inbox', scan: 'clean' })
    expect(attachments).toEqual([
      ['clean.bin', 'clean'],
      ['clean.bin', 'clean'],
    ])
  }
})
