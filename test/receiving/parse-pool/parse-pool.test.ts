import { afterEach, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WorkerError } from '../../../src/base/concurrency/worker-pool.ts'
import type { MessageSource } from '../../../src/mail/message-source.ts'
import { mailauthAuthenticator } from '../../../src/ports/authenticator/mailauth/mailauth.ts'
import type { DnsAnswer, Resolver } from '../../../src/ports/resolver/port.ts'
import { parseForFiling } from '../../../src/receiving/parse.ts'
import { authenticatorBySize, openParsePool, type ParsePool } from '../../../src/receiving/parse-pool/parse-pool.ts'
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

function resolverOf(questions: string[] = []): Resolver {
  return {
    resolve(name, type) {
      questions.push(`${name} ${type}`)
      const record = type === 'TXT' ? zone[name] : undefined
      const answer = record ? { kind: 'found', records: [record], ttlSeconds: 60 } : { kind: 'none', why: 'nxdomain' }
      return Promise.resolve(answer as DnsAnswer<never>)
    },
  }
}

const silent: Resolver = { resolve: () => new Promise(() => undefined) }

function openPool(resolver: Resolver, options: { count?: number; taskTimeoutMs?: number } = {}): ParsePool {
  const pool = openParsePool({ resolver, hostname: 'mx.ours.test', messageTimeoutMs: 60_000, count: 1, ...options })
  open.push(pool)
  return pool
}

async function inFile(bytes: string): Promise<MessageSource> {
  const folder = await mkdtemp(join(tmpdir(), 'parse-pool-'))
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

const unparsed = (content: MessageSource) => ({ content, envelope: { hasNullReversePath: false } })

const envelope = { remoteIp: '192.0.2.1', helo: 'mx.x.test', mailFrom: 'bounce@x.test' }

test('gives the same results as the main thread', async () => {
  const questions: string[] = []
  const resolver = resolverOf(questions)
  const pool = openPool(resolver)
  const inline = mailauthAuthenticator({ resolver, hostname: 'mx.ours.test', messageTimeoutMs: 5000 })
  const raw = large(randomBytes(400_000))
  for (const content of [await inFile(raw), inMemory(raw)]) {
    const verdicts = await pool.authenticator.authenticate({ content, ...envelope })
    expect(verdicts).toEqual(await inline.authenticate({ content, ...envelope }))
    expect([verdicts.spf.result, verdicts.dmarc.result]).toEqual(['pass', 'pass'])
    expect(await pool.parse(unparsed(content))).toEqual(await parseForFiling(unparsed(content)))
  }
  expect(questions).toContain('_dmarc.x.test TXT')
})

test('gives the hash of a file that it read to its end, and of no other', async () => {
  const pool = openPool(resolverOf())
  const raw = large()
  const { sha256 } = await pool.parse(unparsed(await inFile(raw)))
  expect(sha256).toEqual(createHash('sha256').update(raw).digest())
  const manyParts = message(['Content-Type: multipart/mixed; boundary=b'], '--b\r\n\r\nhi\r\n'.repeat(40_000))
  const { sha256: unknown, problem } = await pool.parse(unparsed(await inFile(manyParts)))
  expect(problem).toContain('Max allowed child nodes')
  expect(unknown).toBeNull()
})

test('leaves the event loop free', async () => {
  const pool = openPool(resolverOf())
  const hostile = [
    large(randomBytes(8_000_000)),
    `${message(['DKIM-Signature: v=1; a=rsa-sha256; d=x.test; s=s; h=from; bh=AAAA; b=AAAA']).slice(0, -10)}${'\n'.repeat(5_000_000)}`,
    message([`To: ${'a:b:'.repeat(60_000)}`]),
    message(['Content-Type: multipart/mixed; boundary=b'], '--b\r\n\r\nhi\r\n'.repeat(40_000)),
  ]
  const contents = await Promise.all(hostile.map(inFile))
  await pool.parse(unparsed(await inFile('From: a@x.test\r\n\r\n')))
  let worstMs = 0
  let last = performance.now()
  const timer = setInterval(() => {
    worstMs = Math.max(worstMs, performance.now() - last)
    last = performance.now()
  }, 1)
  await Promise.all(
    contents.flatMap(content => [
      pool.authenticator.authenticate({ content, ...envelope }),
      pool.parse(unparsed(content)),
    ]),
  )
  clearInterval(timer)
  expect(worstMs).toBeLessThan(50)
})

test('fails the tasks of a worker that is ended, and starts another', async () => {
  const pool = openPool(silent, { taskTimeoutMs: 1500 })
  const content = await inFile(large())
  const stuck = [1, 2, 3].map(() => pool.authenticator.authenticate({ content, ...envelope }))
  const outcomes = await Promise.allSettled(stuck)
  for (const outcome of outcomes) expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(WorkerError)
  expect((await pool.parse(unparsed(content))).attachments).toHaveLength(1)
})

test('describes a message whose worker is ended by its header alone', async () => {
  const pool = openPool(resolverOf(), { taskTimeoutMs: 1 })
  const summary = await pool.parse(unparsed(await inFile(large())))
  expect(summary.from).toEqual([{ address: 'a@x.test', name: 'Ann' }])
  expect(summary.subject).toBe('Hello')
  expect(summary.attachments).toEqual([])
  expect(summary.problem).toBe('it could not be parsed: a task took too long')
})

test('rejects, and describes nothing by its header alone, when it is closed', async () => {
  const pool = openPool(resolverOf())
  const parsing = pool.parse(unparsed(await inFile(large())))
  pool.close()
  expect(await parsing.catch((error: Error) => error.message)).toBe('the workers were closed')
  expect(await pool.parse(unparsed(await inFile(large()))).catch((error: Error) => error.message)).toBe(
    'the workers were closed',
  )
})

test('rejects when a file cannot be read', async () => {
  const pool = openPool(resolverOf())
  const gone: MessageSource = { kind: 'file', path: '/nonexistent/message', size: 1_000_000 }
  expect(await pool.parse(unparsed(gone)).catch((error: Error) => error.message)).toContain('ENOENT')
})

test('authenticates small messages on this thread and large ones in the pool', async () => {
  const used: string[] = []
  const named = (name: string) => ({
    authenticate: () => {
      used.push(name)
      return Promise.reject(new Error(name))
    },
  })
  const authenticator = authenticatorBySize(named('inline'), { authenticator: named('pool') })
  const many = message(['X: y\r\n'.repeat(9000).trim()])
  for (const raw of [message(), message([], 'x'.repeat(200_000)), large(), many])
    await authenticator.authenticate({ content: inMemory(raw), ...envelope }).catch(() => undefined)
  await authenticator.authenticate({ content: await inFile(message()), ...envelope }).catch(() => undefined)
  expect(used).toEqual(['inline', 'inline', 'pool', 'pool', 'pool'])
})
