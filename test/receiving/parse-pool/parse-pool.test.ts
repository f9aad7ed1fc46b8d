import { afterEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MessageSource } from '../../../src/mail/message-source.ts'
import { mailauthAuthenticator } from '../../../src/ports/authenticator/mailauth.ts'
import type { DnsAnswer, Resolver } from '../../../src/ports/resolver/port.ts'
import { parseForFiling } from '../../../src/receiving/parse.ts'
import { bySize, openParsePool, type ParsePool, WorkerError } from '../../../src/receiving/parse-pool/parse-pool.ts'
import { inMemory, message } from '../fixtures.ts'

const open: { close(): void | Promise<void> }[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** A zone in which `x.test` lets 192.0.2.1 send and has a DMARC policy. */
const zone: Readonly<Record<string, string>> = {
  'x.test': 'v=spf1 ip4:192.0.2.1 -all',
  '_dmarc.x.test': 'v=DMARC1; p=reject',
}

function resolverOf(asked: string[] = []): Resolver {
  return {
    resolve(name, type) {
      asked.push(`${name} ${type}`)
      const record = type === 'TXT' ? zone[name] : undefined
      const answer = record ? { kind: 'found', records: [record], ttlSeconds: 60 } : { kind: 'none', why: 'nxdomain' }
      return Promise.resolve(answer as DnsAnswer<never>)
    },
  }
}

const silent: Resolver = { resolve: () => new Promise(() => undefined) }

function workers(resolver: Resolver, more: { count?: number; taskTimeoutMs?: number } = {}): ParsePool {
  const heavy = openParsePool({ resolver, hostname: 'mx.ours.test', messageTimeoutMs: 60_000, count: 1, ...more })
  open.push(heavy)
  return heavy
}

async function inFile(bytes: string): Promise<MessageSource> {
  const folder = await mkdtemp(join(tmpdir(), 'heavy-'))
  open.push({ close: () => rm(folder, { recursive: true }) })
  const path = join(folder, 'message')
  await Bun.write(path, bytes)
  return { kind: 'file', path, size: Buffer.byteLength(bytes) }
}

function large(attachment: Buffer = randomBytes(2_000_000)): string {
  const base64 = attachment.toString('base64').replace(/.{76}/g, '$&\r\n')
  const head = 'Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64'
  const body = `--b\r\n\r\nHello.\r\n--b\r\n${head}\r\n\r\n${base64}\r\n--b--\r\n`
  return message(['Content-Type: multipart/mixed; boundary=b'], body)
}

const envelope = { remoteIp: '192.0.2.1', helo: 'mx.x.test', mailFrom: 'bounce@x.test' }

test('finds the same as the main thread does', async () => {
  const asked: string[] = []
  const resolver = resolverOf(asked)
  const heavy = workers(resolver)
  const light = mailauthAuthenticator({ resolver, hostname: 'mx.ours.test', messageTimeoutMs: 5000 })
  const raw = large(randomBytes(400_000))
  for (const content of [await inFile(raw), inMemory(raw)]) {
    const verdicts = await heavy.authenticator.authenticate({ content, ...envelope })
    expect(verdicts).toEqual(await light.authenticate({ content, ...envelope }))
    expect([verdicts.spf.result, verdicts.dmarc.result]).toEqual(['pass', 'pass'])
    expect(await heavy.parse(content)).toEqual(await parseForFiling(content))
  }
  expect(asked).toContain('_dmarc.x.test TXT')
})

test('leaves the event loop free', async () => {
  const heavy = workers(resolverOf())
  const hostile = [
    large(randomBytes(8_000_000)),
    `${message(['DKIM-Signature: v=1; a=rsa-sha256; d=x.test; s=s; h=from; bh=AAAA; b=AAAA']).slice(0, -10)}${'\n'.repeat(5_000_000)}`,
    message([`To: ${'a:b:'.repeat(60_000)}`]),
    message(['Content-Type: multipart/mixed; boundary=b'], '--b\r\n\r\nhi\r\n'.repeat(40_000)),
  ]
  const contents = await Promise.all(hostile.map(inFile))
  await heavy.parse(await inFile('From: a@x.test\r\n\r\n'))
  let worstMs = 0
  let last = performance.now()
  const timer = setInterval(() => {
    worstMs = Math.max(worstMs, performance.now() - last)
    last = performance.now()
  }, 1)
  await Promise.all(
    contents.flatMap(content => [heavy.authenticator.authenticate({ content, ...envelope }), heavy.parse(content)]),
  )
  clearInterval(timer)
  expect(worstMs).toBeLessThan(50)
})

test('fails the tasks of a worker that is ended, and starts another', async () => {
  const heavy = workers(silent, { taskTimeoutMs: 1500 })
  const content = await inFile(large())
  const stuck = [1, 2, 3].map(() => heavy.authenticator.authenticate({ content, ...envelope }))
  const outcomes = await Promise.allSettled(stuck)
  for (const outcome of outcomes) expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(WorkerError)
  expect((await heavy.parse(content)).attachments).toHaveLength(1)
})

test('files with what its header tells a message that ends its worker', async () => {
  const heavy = workers(resolverOf(), { taskTimeoutMs: 1 })
  const outline = await heavy.parse(await inFile(large()))
  expect(outline.from).toEqual([{ address: 'a@x.test', name: 'Ann' }])
  expect(outline.subject).toBe('Hello')
  expect(outline.attachments).toEqual([])
  expect(outline.problem).toBe('it could not be taken apart: a task took too long')
})

test('files nothing half when it is closed', async () => {
  const heavy = workers(resolverOf())
  const parsing = heavy.parse(await inFile(large()))
  heavy.close()
  expect(await parsing.catch((error: Error) => error.message)).toBe('the workers were closed')
  expect(await heavy.parse(await inFile(large())).catch((error: Error) => error.message)).toBe(
    'the workers were closed',
  )
})

test('rejects when a file cannot be read', async () => {
  const heavy = workers(resolverOf())
  const gone: MessageSource = { kind: 'file', path: '/nonexistent/message', size: 1_000_000 }
  expect(await heavy.parse(gone).catch((error: Error) => error.message)).toContain('ENOENT')
})

test('gets only what is large', async () => {
  const heavy = workers(resolverOf())
  const used: string[] = []
  const named = (name: string) => ({
    authenticate: () => {
      used.push(name)
      return Promise.reject(new Error(name))
    },
  })
  const { authenticator } = bySize(named('light'), { ...heavy, authenticator: named('heavy') })
  const many = message(['X: y\r\n'.repeat(9000).trim()])
  for (const raw of [message(), message([], 'x'.repeat(200_000)), large(), many])
    await authenticator.authenticate({ content: inMemory(raw), ...envelope }).catch(() => undefined)
  await authenticator.authenticate({ content: await inFile(message()), ...envelope }).catch(() => undefined)
  expect(used).toEqual(['light', 'light', 'heavy', 'heavy', 'heavy'])
})
