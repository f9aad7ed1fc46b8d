import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { amount } from '../harness/amount.ts'
import { type HealthLatency, type Latency, measureHealthLatency, sendConcurrently } from '../harness/load.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'

const clients = 50
/** Of all clients together it is more than the process may use in either case. */
const megabytesEach = amount({ short: 9, long: 20 })
const maxLargeBytes = 350 * 1024 * 1024
const maxHostileBytes = 400 * 1024 * 1024
const maxP99Ms = 50

const folder = mkdtempSync(join(tmpdir(), 'mailroom-memory-'))
let mailroom: Mailroom

beforeAll(async () => {
  mailroom = await startMailroom({ MAILROOM_MAX_SESSIONS_PER_ADDRESS: '100' })
}, 60_000)

afterAll(async () => {
  await mailroom?.stop()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

async function messageFile(name: string, lines: readonly string[], body: string): Promise<string> {
  const head = ['From: Ann <ann@client.example>', 'To: hello@demo.test', `Subject: ${name} %`, ...lines]
  const path = join(folder, name)
  await Bun.write(path, `${head.join('\r\n')}\r\n\r\n${body}`)
  return path
}

interface Listed {
  readonly id: string
  readonly subject: string
}

/** The messages with this name, in any folder; newest first. */
async function filed(name: string): Promise<readonly Listed[]> {
  const pages = await Promise.all(
    ['inbox', 'spam', 'quarantine'].map(value => mailroom.api('GET', `/v1/inbox?limit=200&folder=${value}`)),
  )
  return pages
    .flatMap(({ json }) => json.data as readonly Listed[])
    .filter(listed => listed.subject.startsWith(`${name} `))
}

interface Measured {
  readonly health: HealthLatency
  readonly peakBytes: number
}

/** The latency of GET /health and the peak memory while `file` is sent, stored, indexed and read. */
async function measureWhileSending(name: string, count: number, file: string): Promise<Measured> {
  mailroom.resetPeakMemory()
  const watch = await measureHealthLatency(mailroom)
  const answers = await sendConcurrently(mailroom.smtp, { clients: count, to: 'hello@demo.test', file })
  const messages = await filed(name)
  // Time for the indexing job, whose memory counts too.
  await Bun.sleep(2000)
  const read = await mailroom.api('GET', `/v1/inbox/${messages[0]?.id}`)
  const measured = { health: await watch.end(), peakBytes: mailroom.resetPeakMemory() }
  report(name, measured)
  expect(answers.filter(answer => !answer.startsWith('250 2.0.0 '))).toEqual([])
  const subjects = Array.from({ length: count }, (_, i) => `${name} ${i}`)
  expect(messages.map(message => message.subject).sort()).toEqual(subjects.sort())
  expect(read.status).toBe(200)
  return measured
}

test(`uses little memory and responds at once while ${clients} clients send ${megabytesEach} MB each`, async () => {
  const base64 = randomBytes(Math.ceil(megabytesEach * 0.73 * 1024 * 1024))
    .toString('base64')
    .replace(/.{76}/g, '$&\r\n')
  const attachment = [
    'Content-Type: application/pdf; name=report.pdf',
    'Content-Disposition: attachment; filename=report.pdf',
    'Content-Transfer-Encoding: base64',
  ]
  const body = `--b\r\n\r\nHello.\r\n--b\r\n${attachment.join('\r\n')}\r\n\r\n${base64}\r\n--b--\r\n`
  const file = await messageFile('large', ['Content-Type: multipart/mixed; boundary=b'], body)
  expect((await Bun.file(file).stat()).size).toBeGreaterThan(megabytesEach * 1_000_000)

  const { health, peakBytes } = await measureWhileSending('large', clients, file)
  expect(peakBytes).toBeLessThan(maxLargeBytes)
  expect(health.withoutCpuWait.p99).toBeLessThan(maxP99Ms)
}, 600_000)

const signature = 'v=1; a=rsa-sha256; c=relaxed/relaxed; d=client.example; s=s; h=from; bh=AAAA; b=AAAA'
const nested = Array.from(
  { length: 20_000 },
  (_, i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`,
)

/** Messages that are expensive to parse: the lines of the header, and the body. */
const hostile: Readonly<Record<string, readonly [lines: readonly string[], body: string]>> = {
  '5 MB of bare LF with a signature': [[`DKIM-Signature: ${signature}`], '\n'.repeat(5_000_000)],
  '5 MB of one header field': [[`X-Long: ${'a'.repeat(5_000_000)}`], 'Hello.\r\n'],
  '5 MB of one folded header field': [[`X-Long: ${'a\r\n '.repeat(1_250_000)}b`], 'Hello.\r\n'],
  'a recipient field of 240 KB of groups': [[`Cc: ${'a:b:'.repeat(60_000)}`], 'Hello.\r\n'],
  'multiparts 20,000 deep': [['Content-Type: multipart/mixed; boundary=b0'], nested.join('')],
  '400,000 parts': [['Content-Type: multipart/mixed; boundary=b'], '--b\r\n\r\nhi\r\n'.repeat(400_000)],
}

for (const [name, [lines, body]] of Object.entries(hostile))
  test(`responds at once while a client sends ${name}`, async () => {
    const file = await messageFile(name, lines, body)
    const { health, peakBytes } = await measureWhileSending(name, 2, file)
    expect(health.withoutCpuWait.p99).toBeLessThan(maxP99Ms)
    expect(peakBytes).toBeLessThan(maxHostileBytes)
  }, 180_000)

function report(what: string, { health: { total, withoutCpuWait }, peakBytes }: Measured): void {
  const ms = ({ p50, p99, max }: Latency) => [p50, p99, max].map(value => value.toFixed(1)).join(', ')
  const megabytes = (peakBytes / 1024 / 1024).toFixed()
  process.stdout.write(
    `${what}: /health p50, p99, max of ${total.count}: ${ms(total)} ms (without CPU wait ${ms(withoutCpuWait)}); peak memory ${megabytes} MB\n`,
  )
}
