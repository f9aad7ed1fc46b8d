import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import type { Provider, SubmissionOutcome } from '../../../src/ports/provider/port.ts'
import { presetNames, presetOf } from '../../../src/ports/provider/smarthost/presets.ts'
import { type RelayScript, type ScriptedRelay, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'
import { providerContract, submission } from './contract.ts'

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const closeable of open.splice(0).reverse()) await closeable.close()
})

async function relayWith(script: RelayScript, connections = 2): Promise<{ relay: ScriptedRelay; provider: Provider }> {
  const relay = await startScriptedRelay(script)
  const provider = providerAt(relay.url, connections)
  open.push(relay, provider)
  return { relay, provider }
}

function providerAt(url: string, connections = 2): Provider {
  return testSmarthost(url, { connections, attemptTimeoutMs: 2000 })
}

function unstuffed(wire: Buffer): Buffer {
  return Buffer.from(wire.toString('latin1').replace(/^\./gm, ''), 'latin1')
}

for (const name of presetNames) {
  const preset = presetOf(name, true)
  providerContract(`smarthost as ${name}`, async () => {
    const relay = await startScriptedRelay()
    const fields = preset
      .headerFieldsFor(submission().emailId)
      .map(field => `${field}\r\n`)
      .join('')
    return {
      provider: testSmarthost(relay.url, { connections: 5, preset }),
      received: async () =>
        relay.accepted.map(({ from, to, wire }) => {
          const message = unstuffed(wire)
          // The fields for the relay come first.
          expect(message.subarray(0, fields.length).toString()).toBe(fields)
          return { from, to, message: message.subarray(fields.length) }
        }),
      close: () => relay.close(),
    }
  })
}

const reply = (phase: string, code: number | null, enhancedCode: string | null, text: string) => ({
  phase,
  code,
  enhancedCode,
  text,
})
const routeError = (...of: Parameters<typeof reply>) => ({ kind: 'route-error', reply: reply(...of) })
const failed = (...of: Parameters<typeof reply>) => ({ kind: 'failed', reply: reply(...of) })
const deferred = (...of: Parameters<typeof reply>) => ({ kind: 'deferred', reply: reply(...of), ambiguous: false })
const gone = 'Connection closed unexpectedly'

const cases: readonly [string, RelayScript, object][] = [
  ['banner 554', { banner: '554 5.3.2 no service close' }, routeError('banner', 554, '5.3.2', 'no service')],
  ['banner 421', { banner: '421 4.3.2 busy close' }, routeError('banner', 421, '4.3.2', 'busy')],
  ['closed before the banner', { banner: 'close' }, routeError('banner', null, null, gone)],
  ['EHLO 421', { ehlo: '421 4.7.0 later close' }, routeError('ehlo', 421, '4.7.0', expect.any(String) as never)],
  ['closed at EHLO', { ehlo: 'close' }, routeError('ehlo', null, null, gone)],
  ['MAIL 553', { mail: '553 5.1.8 unknown sender' }, routeError('mail', 553, '5.1.8', 'unknown sender')],
  ['MAIL 451', { mail: '451 4.3.0 trouble' }, routeError('mail', 451, '4.3.0', 'trouble')],
  [
    'MAIL 530',
    { mail: '530 5.7.0 Authentication required' },
    routeError('mail', 530, '5.7.0', 'Authentication required'),
  ],
  ['MAIL 552 about the size', { mail: '552 5.3.4 too big' }, failed('mail', 552, '5.3.4', 'too big')],
  ['closed at MAIL', { mail: 'close' }, routeError('mail', null, null, gone)],
  ['RCPT 550', { rcpt: '550 5.1.1 no such user' }, failed('rcpt', 550, '5.1.1', 'no such user')],
  [
    'RCPT 550 on several lines',
    { rcpt: '550-5.1.1 no such\r\n550 5.1.1 user' },
    failed('rcpt', 550, '5.1.1', 'no such user'),
  ],
  ['RCPT 550 without a code of its own', { rcpt: '550 no such user' }, failed('rcpt', 550, null, 'no such user')],
  ['RCPT 451 (greylisting)', { rcpt: '451 4.7.1 Greylisted' }, deferred('rcpt', 451, '4.7.1', 'Greylisted')],
  ['RCPT 421', { rcpt: '421 4.3.2 shutting down close' }, routeError('rcpt', 421, '4.3.2', 'shutting down')],
  [
    'RCPT: relay access denied',
    { rcpt: '554 5.7.1 <a@x.test>: Relay access denied' },
    routeError('rcpt', 554, '5.7.1', '<a@x.test>: Relay access denied'),
  ],
  ['closed at RCPT', { rcpt: 'close' }, deferred('rcpt', null, null, gone)],
  ['DATA 451', { data: '451 4.3.0 later' }, deferred('data', 451, '4.3.0', 'later')],
  ['DATA 554', { data: '554 5.7.1 no' }, failed('data', 554, '5.7.1', 'no')],
  ['closed at DATA', { data: 'close' }, deferred('data', null, null, gone)],
  ['final dot 451', { dot: '451 4.3.0 later' }, deferred('final-dot', 451, '4.3.0', 'later')],
  [
    'final dot 554, content',
    { dot: '554 5.7.1 looks like spam' },
    failed('final-dot', 554, '5.7.1', 'looks like spam'),
  ],
  [
    'final dot 552, mailbox full',
    { dot: '552 5.2.2 Mailbox: daily quota exceeded' },
    failed('final-dot', 552, '5.2.2', 'Mailbox: daily quota exceeded'),
  ],
  [
    'final dot 550, account',
    { dot: '550 5.4.5 Daily sending quota exceeded' },
    routeError('final-dot', 550, '5.4.5', 'Daily sending quota exceeded'),
  ],
  ['final dot 421', { dot: '421 4.3.2 bye close' }, routeError('final-dot', 421, '4.3.2', 'bye')],
  [
    'closed after the final dot',
    { dot: 'close' },
    { kind: 'deferred', reply: reply('final-dot', null, null, gone), ambiguous: true },
  ],
  [
    'taken',
    {},
    { kind: 'accepted', reply: reply('final-dot', 250, '2.0.0', 'Ok: queued as ABC123'), providerMessageId: 'ABC123' },
  ],
]

const plainEhlo = '250-relay.test\r\n250 SIZE 1000000'

for (const [style, ehlo] of [
  ['pipelined', undefined],
  ['one command at a time', plainEhlo],
] as const)
  test.each(cases)(`%s gives its own outcome, ${style}`, async (_, script, outcome) => {
    const { provider } = await relayWith({ ...(ehlo ? { ehlo } : {}), ...script })
    expect(await provider.submit(submission())).toEqual([outcome] as never)
  })

test.each(cases.filter(([, script]) => script.banner === undefined && script.ehlo === undefined))(
  'after %s the next message is accepted, on the same connection if that is still open',
  async (_, script, outcome) => {
    const { relay, provider } = await relayWith(script)
    expect(await provider.submit(submission())).toEqual([outcome] as never)
    relay.setScript({})
    expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
    const lived = !JSON.stringify(script).includes('close')
    expect(relay.accepted.at(-1)?.connection).toBe(lived ? 0 : 1)
  },
)

test('each recipient of one submission has its own reply when the message is refused', async () => {
  const { provider } = await relayWith({
    rcpt: to => (to === 'b@x.test' ? '550 5.1.1 no b' : to === 'c@x.test' ? '450 4.2.1 not c' : '250 ok'),
    dot: '554 5.6.0 refused',
  })
  const outcomes = await provider.submit(submission({ recipients: ['a@x.test', 'b@x.test', 'c@x.test'] }))
  expect(outcomes).toEqual([
    failed('final-dot', 554, '5.6.0', 'refused'),
    failed('rcpt', 550, '5.1.1', 'no b'),
    deferred('rcpt', 450, '4.2.1', 'not c'),
  ] as never)
})

test('a connection that closes in the middle of a large message is not ambiguous', async () => {
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.write('220 hi\r\n')
    let seen = 0
    socket.on('data', chunk => {
      seen += chunk.length
      if (/^EHLO/.test(chunk.toString('latin1'))) socket.write('250 hi\r\n')
      else if (/^(MAIL|RCPT)/.test(chunk.toString('latin1'))) socket.write('250 ok\r\n')
      else if (/^DATA/.test(chunk.toString('latin1'))) socket.write('354 go\r\n')
      else if (seen > 100_000) socket.destroy()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const provider = providerAt(`smtp://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`)
  open.push({ close: () => new Promise(resolve => server.close(() => resolve())) }, provider)
  const message = Buffer.concat([submission().message, Buffer.alloc(20_000_000, 'abcdefgh\r\n')])
  expect(await provider.submit(submission({ message }))).toEqual([
    { kind: 'deferred', ambiguous: false, reply: expect.objectContaining({ phase: 'data', code: null }) },
  ] as never)
})

test('a message larger than the relay’s SIZE fails without being sent', async () => {
  const { relay, provider } = await relayWith({})
  const message = Buffer.alloc(1_000_001, 'abcdefgh\r\n')
  const [outcome] = await provider.submit(submission({ message }))
  expect(outcome).toEqual(expect.objectContaining({ kind: 'failed' }))
  expect(outcome?.reply.text).toContain('1000000')
  expect(relay.commands.filter(command => command.includes('MAIL'))).toEqual([])
  expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
})

test('an unreachable relay is a route error', async () => {
  const relay = await startScriptedRelay()
  await relay.close()
  const provider = providerAt(relay.url)
  open.push(provider)
  const [outcome] = await provider.submit(submission())
  expect(outcome).toEqual(routeError('connect', null, null, expect.stringContaining('ECONNREFUSED') as never) as never)
  expect(await provider.checkHealth()).toContain('connect')
})

test.each([
  ['banner', { banner: '' }, 'route-error', 'banner', undefined],
  ['MAIL', { mail: '' }, 'route-error', 'mail', undefined],
  ['RCPT', { rcpt: '' }, 'deferred', 'rcpt', false],
  ['the final dot', { dot: '' }, 'deferred', 'final-dot', true],
] as const)(
  'a relay that is silent at %s is abandoned when the signal fires',
  async (_, script, kind, phase, ambiguous) => {
    const { provider } = await relayWith(script)
    const started = performance.now()
    const [outcome] = await provider.submit(submission({ signal: AbortSignal.timeout(200) }))
    expect(performance.now() - started).toBeLessThan(1500)
    expect(outcome).toEqual(expect.objectContaining({ kind, reply: expect.objectContaining({ phase, code: null }) }))
    expect((outcome as { ambiguous?: boolean }).ambiguous).toBe(ambiguous as never)
  },
)

test('messages share a connection', async () => {
  const { relay, provider } = await relayWith({}, 1)
  for (let i = 0; i < 5; i++) await provider.submit(submission())
  expect(relay.accepted.map(({ connection }) => connection)).toEqual([0, 0, 0, 0, 0])
  expect(relay.commands.filter(command => command.includes('EHLO'))).toEqual(['0 EHLO mail.test'])
})

test('a connection that died while idle is replaced, and the message is sent at once', async () => {
  const { relay, provider } = await relayWith({}, 1)
  await provider.submit(submission())
  await relay.dropConnections()
  expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
  relay.setScript({ mail: '421 4.4.2 timeout close' })
  expect((await provider.submit(submission()))[0]).toEqual(routeError('mail', 421, '4.4.2', 'timeout') as never)
  // One try on the connection that was open, one on a fresh one.
  expect(relay.commands.filter(command => command.includes('MAIL')).length).toBe(4)
  expect(relay.accepted.length).toBe(2)
})

test('a relay that answers 421 on an idle connection is tried again at once', async () => {
  let mails = 0
  const { relay, provider } = await relayWith({ mail: () => (++mails === 2 ? '421 4.4.2 timeout close' : '250 ok') }, 1)
  await provider.submit(submission())
  expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
  expect(relay.accepted.map(({ connection }) => connection)).toEqual([0, 1])
})

test('a message is not sent again when a reused connection closes after the final dot', async () => {
  const { relay, provider } = await relayWith({}, 1)
  await provider.submit(submission())
  relay.setScript({ dot: 'close' })
  expect((await provider.submit(submission()))[0]).toEqual(
    expect.objectContaining({ kind: 'deferred', ambiguous: true }),
  )
  expect(relay.accepted.length).toBe(2)
})

test.each([
  ['wrong', '535 5.7.8 bad credentials', 535],
  ['temporarily broken', '454 4.7.0 temporary failure', 454],
])('credentials that are %s are a route error', async (_, auth, code) => {
  const { relay } = await relayWith({ ehlo: '250-relay.test\r\n250 AUTH PLAIN', auth })
  const provider = providerAt(relay.url.replace('//', '//user:secret@'))
  open.push(provider)
  expect(await provider.submit(submission())).toEqual([
    routeError('auth', code, expect.any(String) as never, expect.any(String) as never),
  ] as never)
  expect(await provider.checkHealth()).toMatch(/^auth: /)
})

test('credentials are sent only where AUTH is offered', async () => {
  const { relay } = await relayWith({ ehlo: '250-relay.test\r\n250 AUTH PLAIN' })
  const provider = providerAt(relay.url.replace('//', '//user:s%40cret@'))
  open.push(provider)
  expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
  expect(relay.commands).toContain(`0 AUTH PLAIN ${Buffer.from('\0user\0s@cret').toString('base64')}`)
  relay.setScript({ ehlo: '250 relay.test' })
  await relay.dropConnections()
  expect((await provider.submit(submission()))[0]).toEqual(
    routeError('auth', null, null, 'The relay does not offer AUTH.') as never,
  )
})

test('the traits say whether the relay offers SMTPUTF8', async () => {
  const { provider } = await relayWith({})
  expect(provider.traits.smtputf8).toBe(false)
  await provider.submit(submission())
  expect(provider.traits.smtputf8).toBe(true)
})

test.each([
  ['dots at the starts of lines', 'H: x\r\n\r\n.\r\n..\r\n.a\r\n', 'H: x\r\n\r\n..\r\n...\r\n..a\r\n'],
  ['bare LF around a dot', 'H: x\r\n\r\na\n.\nb\r\n', 'H: x\r\n\r\na\r\n..\r\nb\r\n'],
  ['bare LF and CRLF', 'H: x\r\n\r\na\n.\r\nb\r\n', 'H: x\r\n\r\na\r\n..\r\nb\r\n'],
  ['bare CR around a dot', 'H: x\r\n\r\na\r.\rb\r\n', 'H: x\r\n\r\na\r\n..\r\nb\r\n'],
  ['no line end at the end', 'H: x\r\n\r\na', 'H: x\r\n\r\na\r\n'],
  [
    'a smuggled message',
    'H: x\r\n\r\n\n.\r\nMAIL FROM:<e@e.test>\r\n',
    'H: x\r\n\r\n\r\n..\r\nMAIL FROM:<e@e.test>\r\n',
  ],
])('the final dot cannot be forged: %s', async (_, message, wire) => {
  const { relay, provider } = await relayWith({})
  expect((await provider.submit(submission({ message: Buffer.from(message) })))[0]?.kind).toBe('accepted')
  expect(relay.accepted.map(({ wire }) => wire.toString())).toEqual([wire])
  expect(relay.commands.filter(command => /MAIL/.test(command)).length).toBe(1)
})

test.each(['a@x.test>\r\nRCPT TO:<evil@y.test', 'a@x.test\r\nDATA', 'a>@x.test'])(
  'an address that would break out of its command is not sent: %j',
  async address => {
    const { relay, provider } = await relayWith({})
    const outcomes: readonly SubmissionOutcome[] = await provider.submit(submission({ recipients: [address] }))
    expect(outcomes[0]?.kind).toBe('failed')
    expect(relay.accepted).toEqual([])
    expect(relay.commands.filter(command => /RCPT|DATA/.test(command))).toEqual([])
  },
)

test.each([
  ['small', 100],
  ['large', 200_000],
])('a %s message that may not be accepted any more after DATA is withdrawn before the final dot', async (_, size) => {
  let isData = false
  const relay = await startScriptedRelay({
    data: () => {
      isData = true
      return '354 go on'
    },
  })
  const provider = testSmarthost(relay.url, { connections: 1 })
  try {
    const message = Buffer.concat([submission().message, Buffer.alloc(size, 'x\r\n')])
    expect(await provider.submit(submission({ message, mayBeAccepted: () => !isData }))).toMatchObject([
      { kind: 'withdrawn', reply: { phase: 'data', code: null } },
    ])
    expect(relay.commands.map(command => command.slice(2, 6))).toEqual(['EHLO', 'MAIL', 'RCPT', 'DATA'])
    expect(relay.accepted).toEqual([])
    expect((await provider.submit(submission()))[0]?.kind).toBe('accepted')
  } finally {
    await provider.close()
    await relay.close()
  }
})

test('a submission that waits for a connection gives up when its signal fires', async () => {
  const relay = await startScriptedRelay({ dotAfterMs: 1500 })
  const provider = testSmarthost(relay.url, { connections: 1 })
  try {
    const first = provider.submit(submission())
    await until(() => relay.connections() === 1, { what: 'the only connection is in use' })
    const began = performance.now()
    const [outcome] = await provider.submit(submission({ signal: AbortSignal.timeout(100) }))
    expect(performance.now() - began).toBeLessThan(1000)
    expect(outcome).toMatchObject({ kind: 'route-error', reply: { phase: 'connect', code: null } })
    expect((await first)[0]?.kind).toBe('accepted')
    expect(relay.connections()).toBe(1)
  } finally {
    await provider.close()
    await relay.close()
  }
})

test('a submission waits when all connections are in use', async () => {
  const { relay, provider } = await relayWith({}, 1)
  const all = await Promise.all(Array.from({ length: 5 }, () => provider.submit(submission())))
  expect(all.flat().map(submissionOutcome => submissionOutcome.kind)).toEqual(
    Array.from({ length: 5 }, () => 'accepted'),
  )
  expect(new Set(relay.accepted.map(({ connection }) => connection)).size).toBe(1)
})

test.each([
  ['STARTTLS', 'smtp:', false],
  ['implicit TLS', 'smtps:', true],
])('mail and credentials go over %s', async (_, protocol, secure) => {
  const folder = mkdtempSync(join(tmpdir(), 'smarthost-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-keyout', key, '-out', cert, '-days', '1', '-subj', '/CN=localhost']
  Bun.spawnSync([
    'openssl',
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    ...subject,
  ])
  const seen: { secure: boolean; user: unknown; bytes: number }[] = []
  const server = new SMTPServer({
    secure,
    key: readFileSync(key),
    cert: readFileSync(cert),
    onAuth: ({ username, password }, _session, done) =>
      password === 'secret' ? done(null, { user: username }) : done(new Error('no')),
    onData(stream, session, done) {
      let bytes = 0
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      stream.on('end', () => {
        seen.push({ secure: session.secure, user: session.user, bytes })
        done()
      })
    },
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const provider = providerAt(`${protocol}//user:secret@127.0.0.1:${port}`)
  open.push({ close: () => new Promise(resolve => server.close(resolve)) }, provider)
  expect(await provider.checkHealth()).toBeNull()
  const given = submission()
  expect((await provider.submit(given))[0]?.kind).toBe('accepted')
  expect((await provider.submit(given))[0]?.kind).toBe('accepted')
  const one = { secure: true, user: 'user', bytes: given.message.length }
  expect(seen).toEqual([one, one])

  const wrong = providerAt(`${protocol}//user:wrong@127.0.0.1:${port}`)
  open.push(wrong)
  expect((await wrong.submit(given))[0]).toMatchObject({ kind: 'route-error', reply: { phase: 'auth', code: 535 } })
  rmSync(folder, { recursive: true })
})

test('a TLS failure is a route error', async () => {
  const { relay, provider } = await relayWith({ ehlo: '250-relay.test\r\n250 STARTTLS' })
  expect((await provider.submit(submission()))[0]).toMatchObject({
    kind: 'route-error',
    reply: { phase: 'starttls' },
  })
  const implicit = providerAt(relay.url.replace('smtp:', 'smtps:'))
  open.push(implicit)
  expect((await implicit.submit(submission()))[0]).toMatchObject({ kind: 'route-error', reply: { phase: 'connect' } })
})
