import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { releaseSent } from '../../src/base/memory/release-memory.ts'
import { readMessageSummary } from '../../src/mail/message.ts'
import type { ScanInput, Scanner, ScanResult } from '../../src/ports/scanner/port.ts'
import { type ScannedMessage, scanDecoded } from '../../src/receiving/scan-decoded.ts'

const folder = mkdtempSync(join(tmpdir(), 'scan-decoded-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function bytesOf(input: ScanInput): Promise<Buffer> {
  if (input.kind === 'memory') return input.bytes
  if (input.kind === 'file') return Buffer.from(await Bun.file(input.path).arrayBuffer())
  const pieces: Buffer[] = []
  for await (const piece of input.stream) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/** Reads all that it is given, and answers with the next of these. */
function recorder(...answers: readonly ScanResult[]) {
  const inputs: Buffer[] = []
  let scans = 0
  const scanner: Scanner = {
    async scan(input) {
      const at = scans++
      try {
        inputs[at] = await bytesOf(input)
      } catch (error) {
        return { kind: 'unscanned', why: String(error) }
      }
      return answers[at] ?? { kind: 'clean' }
    },
    isReady: () => Promise.resolve(true),
  }
  return { scanner, inputs }
}

const encode = (bytes: Buffer) => bytes.toString('base64').replace(/.{76}(?!$)/g, '$&\r\n')

function mail(...bodies: readonly string[]): Buffer {
  const parts = bodies.map(
    (body, i) =>
      `Content-Type: application/octet-stream; name=${i}.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n${body}`,
  )
  const all = ['\r\nwords', ...parts].map(part => `--b\r\n${part}\r\n`)
  return Buffer.from(`From: a@x.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${all.join('')}--b--\r\n`)
}

/** The same message in memory, in a file, and from a store that gives it in pieces of these sizes. */
async function eachKind(message: Buffer): Promise<readonly ScannedMessage[]> {
  const path = join(folder, randomBytes(6).toString('hex'))
  await Bun.write(path, message)
  const stored = (pieceBytes: number): ScannedMessage => ({
    kind: 'stored',
    async *read(start, end = message.length) {
      for (let at = start; at < end; at += pieceBytes) yield message.subarray(at, Math.min(at + pieceBytes, end))
    },
  })
  const size = message.length
  return [{ kind: 'memory', bytes: message, size }, { kind: 'file', path, size }, stored(1000), stored(512 * 1024)]
}

async function bodiesOf(message: Buffer) {
  const { base64Bodies } = await readMessageSummary(message)
  return base64Bodies
}

const [first, second] = [randomBytes(40_000), randomBytes(700_001)]

test('the scanner gets every byte: the message without the bodies, and each of these decoded', async () => {
  const message = mail(encode(first), encode(Buffer.from('small')), encode(second))
  const bodies = await bodiesOf(message)
  expect(bodies.length).toBe(2)
  for (const kind of await eachKind(message)) {
    const { scanner, inputs } = recorder()
    expect(await scanDecoded(kind, bodies, scanner)).toEqual({ kind: 'clean' })
    const [without = Buffer.alloc(0), ...decoded] = inputs
    expect(decoded).toEqual([first, second])
    expect(without.toString()).toBe(mail('', encode(Buffer.from('small')), '').toString())
    expect(reassembled(without, bodies, decoded)).toEqual(message)
  }
})

function reassembled(
  without: Buffer,
  bodies: Awaited<ReturnType<typeof bodiesOf>>,
  decoded: readonly Buffer[],
): Buffer {
  return bodies.reduce((message, { start }, i) => {
    const body = Buffer.from(encode(decoded[i] ?? Buffer.alloc(0)))
    return Buffer.concat([message.subarray(0, start), body, message.subarray(start)])
  }, without)
}

const spoilt: Readonly<Record<string, (body: string) => string>> = {
  'a blank in a line': body => `${body.slice(0, -3000)} ${body.slice(-3000)}`,
  'no padding': body => body.replace(/=+$/, ''),
  'bytes after the padding': body => `${body}AAAA`,
  'a longer line': body => `${body.slice(0, -3000)}AAAA${body.slice(-3000)}`,
}

test('what it decodes of a file is freed by whoever sends it on, and what it reads as it is stays', async () => {
  const message = mail(encode(second))
  const read: Buffer[] = []
  const scanner: Scanner = {
    async scan(input) {
      if (input.kind === 'stream')
        for await (const piece of input.stream) {
          read.push(piece as Buffer)
          releaseSent(piece as Buffer)
        }
      return { kind: 'clean' }
    },
    isReady: () => Promise.resolve(true),
  }
  const [, file] = await eachKind(message)
  await scanDecoded(file as ScannedMessage, await bodiesOf(message), scanner)
  expect(read.some(piece => piece.toString('latin1').includes('From: a@x.test'))).toBe(true)
  const freed = read.filter(piece => piece.length === 0)
  expect(freed.length).toBeGreaterThanOrEqual(2)
  expect(read.filter(piece => piece.length > 64 * 1024)).toEqual([])
})

describe('a message is scanned whole if a body that was to be left out has', () => {
  for (const [what, spoil] of Object.entries(spoilt))
    test(what, async () => {
      const message = mail(encode(first), spoil(encode(second)))
      const bodies = await bodiesOf(message)
      expect(bodies.length).toBe(2)
      for (const kind of await eachKind(message)) {
        const { scanner, inputs } = recorder()
        expect(await scanDecoded(kind, bodies, scanner)).toEqual({ kind: 'clean' })
        expect(inputs.at(-1)).toEqual(message)
      }
    })
})

const found: ScanResult = { kind: 'infected', signature: 'Evil' }
const away: ScanResult = { kind: 'unscanned', why: 'away' }
const limits: ScanResult = { kind: 'unscanned', why: 'limits', isPermanent: true }
const clean: ScanResult = { kind: 'clean' }

test.each([
  [[clean, clean, found], found],
  [[found, away, clean], found],
  [[clean, away, clean], away],
  [[clean, limits, clean], limits],
  [[limits, away, clean], away],
  [[limits, clean, found], found],
] as const)('the worst of the scans is the result: %j', async (answers, worst) => {
  const message = mail(encode(first), encode(second))
  const bodies = await bodiesOf(message)
  for (const kind of await eachKind(message)) {
    const { scanner } = recorder(...answers)
    expect(await scanDecoded(kind, bodies, scanner)).toEqual(worst)
  }
})

test('what cannot be read is not clean', async () => {
  const message = mail(encode(first))
  const bodies = await bodiesOf(message)
  const file: ScannedMessage = { kind: 'file', path: join(folder, 'gone'), size: message.length }
  expect(await scanDecoded(file, bodies, recorder().scanner)).toMatchObject({ kind: 'unscanned' })
  const broken: ScannedMessage = {
    kind: 'stored',
    async *read(start, end = message.length) {
      if (start > 0) throw new Error('the disk is gone')
      yield message.subarray(start, end)
    },
  }
  expect(await scanDecoded(broken, bodies, recorder().scanner)).toMatchObject({ kind: 'unscanned' })
})

test('a large body is not held in memory', async () => {
  const size = 200_000_000
  const line = Buffer.from(`${'QUJD'.repeat(19)}\r\n`)
  const piece = Buffer.alloc(line.length * 3000, line)
  let [read, received, ahead] = [0, 0, 0]
  const endless: ScannedMessage = {
    kind: 'stored',
    async *read(start) {
      if (start !== 4) return
      for (; read < size; read += piece.length) {
        ahead = Math.max(ahead, (read * 57) / 78 - received)
        yield piece
      }
    },
  }
  const slow: Scanner = {
    async scan(input) {
      if (input.kind !== 'stream') throw new Error('in memory')
      for await (const bytes of input.stream as Readable) {
        received += (bytes as Buffer).length
        await Bun.sleep(0)
      }
      return clean
    },
    isReady: () => Promise.resolve(true),
  }
  expect(await scanDecoded(endless, [{ start: 4, end: 4 + size }], slow)).toEqual(clean)
  expect(received).toBeGreaterThan(size * 0.7)
  expect(ahead).toBeLessThan(2_000_000)
})
