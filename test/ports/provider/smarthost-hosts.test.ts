import { afterEach, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { type PresetName, presetOf } from '../../../src/ports/provider/smarthost/presets.ts'
import type { SmarthostOptions } from '../../../src/ports/provider/smarthost/smarthost.ts'
import { type RelayScript, type ScriptedRelay, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { submission } from './contract.ts'

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const closeable of open.splice(0).reverse()) await closeable.close()
})

async function relay(script: RelayScript = {}): Promise<ScriptedRelay> {
  const opened = await startScriptedRelay(script)
  open.push(opened)
  return opened
}

function providerAt(relays: readonly { readonly url: string }[], given: Partial<SmarthostOptions> = {}) {
  const provider = testSmarthost('', { urls: relays.map(relay => relay.url), ...given })
  open.push(provider)
  return provider
}

test.each([
  ['its banner', { banner: '554 5.3.2 no service close' }],
  ['a closed connection', { banner: 'close' }],
  ['421 at EHLO', { ehlo: '421 4.3.2 later close' }],
  ['421 at MAIL', { mail: '421 4.3.2 later close' }],
] as const)('the second host is used when the first refuses by %s, and stays in use for a while', async (_, script) => {
  const [first, second] = [await relay(script), await relay()]
  const provider = providerAt([first, second])
  expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
  const tried = first.connections()
  first.setScript({})
  expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
  expect([first.connections(), first.accepted.length, second.accepted.length]).toEqual([tried, 0, 2])
})

test('an unreachable host is skipped, and the provider is healthy as long as another host is reachable', async () => {
  const [first, second] = [await relay(), await relay()]
  await first.close()
  const provider = providerAt([first, second])
  expect(await provider.checkHealth()).toBeNull()
  expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
  await second.close()
  expect(await provider.checkHealth()).toContain('ECONNREFUSED')
  expect((await provider.submit(submission()))[0]?.kind).toBe('route-error')
})

test('a pooled connection whose socket is closed is replaced, and does not fail the message', async () => {
  for (let i = 0; i < 10; i++) {
    const sink = await relay()
    const provider = providerAt([sink])
    await provider.submit(submission())
    await sink.close()
    // Long enough for the sockets to close, and not for every event that follows from it.
    await provider.checkHealth()
    expect((await provider.submit(submission()))[0]?.kind).toBe('route-error')
  }
})

test('a host that refuses the sender is still tried first', async () => {
  const [first, second] = [await relay({ mail: '553 5.1.8 unknown sender' }), await relay()]
  const provider = providerAt([first, second])
  expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
  first.setScript({})
  expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
  expect([first.accepted.length, second.accepted.length]).toEqual([1, 1])
})

test.each([
  ['550 to RCPT', { rcpt: '550 5.1.1 no' }, 'failed'],
  ['451 to RCPT', { rcpt: '451 4.7.1 later' }, 'deferred'],
  ['554 to the message', { dot: '554 5.6.0 no' }, 'failed'],
  ['a connection that ends after the final dot', { dot: 'close' }, 'deferred'],
] as const)('%s is the outcome, and the next host is not tried', async (_, script, kind) => {
  const [first, second] = [await relay(script), await relay()]
  const provider = providerAt([first, second])
  expect((await provider.submit(submission()))[0]?.kind).toBe(kind)
  expect(second.connections()).toBe(0)
})

test('the number of submissions a second is limited', async () => {
  const sink = await relay()
  const provider = providerAt([sink], { perSecond: 20, connections: 10 })
  const started = performance.now()
  await Promise.all(Array.from({ length: 11 }, () => provider.submit(submission())))
  expect(performance.now() - started).toBeGreaterThanOrEqual(490)
  expect(sink.accepted.length).toBe(11)
})

const offersDsn = { ehlo: '250-relay.test\r\n250-SIZE 1000000\r\n250 DSN' }

test('a relay that offers DSN is asked for notifications, with our id of the email and the recipient', async () => {
  const sink = await relay(offersDsn)
  const provider = providerAt([sink])
  await provider.submit(submission({ recipients: ['a+b=c@x.test'] }))
  expect(sink.commands.filter(command => /MAIL|RCPT/.test(command))).toEqual([
    `0 MAIL FROM:<hello@shop.test> SIZE=${submission().message.length} RET=HDRS ENVID=${submission().emailId}`,
    '0 RCPT TO:<a+b=c@x.test> NOTIFY=FAILURE,DELAY ORCPT=rfc822;a+2Bb+3Dc@x.test',
  ])
})

test('notifications of successful deliveries are requested if configured', async () => {
  const sink = await relay(offersDsn)
  await providerAt([sink], { dsnSuccess: true }).submit(submission())
  expect(sink.commands.find(command => command.includes('RCPT'))).toContain('NOTIFY=SUCCESS,FAILURE,DELAY')
})

test.each([
  ['a relay that does not offer them', {}, presetOf('postfix', true)],
  ['a service that sends none', offersDsn, presetOf('postmark', true)],
])('no notifications are requested from %s', async (_, script, preset) => {
  const sink = await relay(script)
  await providerAt([sink], { preset }).submit(submission())
  expect(sink.commands.some(command => /RET=|NOTIFY=|ENVID=/.test(command))).toBe(false)
})

test('the Message-ID that a relay assigns is read from its reply, where the preset says so', async () => {
  const dot = '250 2.0.0 OK: queued as <202610090000.12345@smtp-relay.mailin.fr>'
  const sink = await relay({ dot })
  const submitted = (preset: PresetName) => providerAt([sink], { preset: presetOf(preset, true) }).submit(submission())
  expect(await submitted('brevo')).toMatchObject([{ wireMessageId: '202610090000.12345@smtp-relay.mailin.fr' }])
  expect((await submitted('postfix'))[0]).not.toHaveProperty('wireMessageId')
})

/** A relay that offers only these AUTH mechanisms, and what it received. */
async function authenticating(mechanisms: string) {
  const received: string[] = []
  const server: Server = createServer(socket => {
    socket.on('error', () => socket.destroy())
    socket.write('220 hi\r\n')
    let step = 0
    socket.on('data', chunk => {
      for (const line of chunk.toString('latin1').split('\r\n').slice(0, -1)) {
        if (/^EHLO/.test(line)) socket.write(`250-hi\r\n250 AUTH ${mechanisms}\r\n`)
        else if (/^AUTH LOGIN/.test(line)) {
          step = 1
          received.push(line)
          socket.write('334 VXNlcm5hbWU6\r\n')
        } else if (step > 0) {
          received.push(Buffer.from(line, 'base64').toString())
          socket.write(step === 1 ? '334 UGFzc3dvcmQ6\r\n' : '235 2.7.0 ok\r\n')
          step = step === 1 ? 2 : 0
        } else if (/^AUTH PLAIN/.test(line)) {
          received.push(Buffer.from(line.split(' ')[2] ?? '', 'base64').toString())
          socket.write('235 2.7.0 ok\r\n')
        } else if (/^QUIT/.test(line)) socket.end('221 bye\r\n')
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  open.push({ close: () => new Promise(resolve => server.close(() => resolve())) })
  const address = server.address()
  return {
    received,
    url: `smtp://us%40er:p%3Aw@127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
  }
}

test.each([
  ['LOGIN', ['AUTH LOGIN', 'us@er', 'p:w']],
  ['PLAIN', ['\0us@er\0p:w']],
  ['PLAIN LOGIN', ['\0us@er\0p:w']],
])('a relay that offers %s gets the credentials that way', async (mechanisms, expected) => {
  const server = await authenticating(mechanisms)
  expect(await providerAt([server]).checkHealth()).toBeNull()
  expect(server.received).toEqual(expected)
})
