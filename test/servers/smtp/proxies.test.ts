import { afterEach, expect, test } from 'bun:test'
import { selfSigned } from '../../harness/certificates.ts'
import { replaceableCertificates } from '../../harness/replaceable-certificates.ts'
import { SmtpClient } from '../../harness/smtp-client.ts'
import { openTestSmtpServer, type TestSmtpServer } from '../../harness/smtp-server.ts'
import { swaks } from '../../harness/swaks.ts'

let server: TestSmtpServer

afterEach(() => server.close())

const balancer = ['127.0.0.1']
const header = (address: string) => `PROXY TCP4 ${address} 198.51.100.1 65000 25\r\n`

/** A header of version 2 for a client at 192.0.2.7, with an extension of 200 octets after the addresses. */
const binaryHeader = Buffer.concat([
  Buffer.from('0d0a0d0a000d0a515549540a211100d7c0000207c6336401fde800190400c8', 'hex'),
  Buffer.alloc(200),
])

/** Sends a message after the header. Returns the client address that the pipeline got with it. */
async function clientOfMessage(client: SmtpClient): Promise<string | undefined> {
  expect(await client.reply()).toStartWith('220 ')
  await client.commands('EHLO client.test', 'MAIL FROM:<a@b.test>', 'RCPT TO:<hello@ours.test>', 'DATA')
  expect(await client.command('Subject: x\r\n\r\nx\r\n.')).toStartWith('250 ')
  client.hangUp()
  return server.inbound.received.at(-1)?.remoteIp
}

const connected = async (first: string | Buffer): Promise<SmtpClient> => {
  const client = await SmtpClient.connect(server.port)
  client.send(first)
  return client
}

test('takes the client address from a header of version 1 or 2, for IPv4 and IPv6, as swaks sends it', async () => {
  server = await openTestSmtpServer({ smtpProxies: balancer })
  const clients = [
    ['1', 'TCP4', '192.0.2.7', '198.51.100.1'],
    ['1', 'TCP6', '2001:db8::7', '2001:db8::1'],
    ['2', 'AF_INET', '192.0.2.8', '198.51.100.1'],
    ['2', 'AF_INET6', '2001:db8::8', '2001:db8::1'],
  ] as const
  for (const [version, family, source, destination] of clients) {
    const proxy = ['--proxy-version', version, '--proxy-family', family]
    const ends = ['--proxy-source', source, '--proxy-source-port', '65000']
    const ours = ['--proxy-dest', destination, '--proxy-dest-port', '25']
    const conversation = await swaks(server.port, [
      ...proxy,
      ...ends,
      ...ours,
      '--from',
      'a@b.test',
      '--to',
      'hello@ours.test',
    ])
    expect({ ...conversation, remoteIp: server.inbound.received.at(-1)?.remoteIp }).toMatchObject({
      status: 0,
      remoteIp: source,
    })
  }
})

test('reads a header that comes octet by octet, and one together with the first command', async () => {
  server = await openTestSmtpServer({ smtpProxies: balancer })
  for (const bytes of [Buffer.from(header('192.0.2.7')), binaryHeader.subarray(0, 60)]) {
    const client = await SmtpClient.connect(server.port)
    await client.sendInPieces(Array.from(bytes, octet => Buffer.from([octet])))
    if (bytes.length === 60) client.send(binaryHeader.subarray(60))
    expect(await clientOfMessage(client)).toBe('192.0.2.7')
  }
  const hasty = await connected(Buffer.concat([binaryHeader, Buffer.from('QUIT\r\n')]))
  expect(await hasty.rest()).toMatch(/^220 .*\r\n(?:221 2\.0\.0 .*\r\n|421 .*\r\n)$/)
})

test('reads a header that comes in one packet with the start of a TLS handshake, or all of it', async () => {
  const certificates = replaceableCertificates(selfSigned(['mx.ours.test']))
  const implicitTls = { kind: 'submission', tls: 'implicit', requiresCertificate: true } as const
  server = await openTestSmtpServer({ smtpProxies: balancer }, {}, undefined, certificates, implicitTls)
  for (const before of [Buffer.from(header('192.0.2.7')), binaryHeader])
    for (const bytes of [0, 1, 100, Infinity]) {
      const client = await SmtpClient.connectTls(server.port, before, bytes)
      expect(await clientOfMessage(client)).toBe('192.0.2.7')
      expect(server.inbound.received.at(-1)?.tls).toStartWith('TLSv1.3 ')
    }
})

test('uses the address of the load balancer when the header has no client', async () => {
  server = await openTestSmtpServer({ smtpProxies: balancer })
  const local = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex')
  for (const first of ['PROXY UNKNOWN\r\n', local])
    expect(await clientOfMessage(await connected(first))).toBe('127.0.0.1')
})

test('closes a load balancer’s connection without a reply when the header is absent or malformed', async () => {
  server = await openTestSmtpServer({ smtpProxies: balancer })
  for (const first of ['EHLO client.test\r\n', 'PROXY TCP4 nobody 198.51.100.1 1 25\r\n', 'PROXY TC'])
    expect(await (await connected(`${first}`.padEnd(120, 'x'))).rest()).toBe('')
  expect(server.logged.filter(line => line.includes('no valid PROXY protocol header'))).toHaveLength(3)
})

test('limits the time for the header, and serves others meanwhile', async () => {
  server = await openTestSmtpServer({ smtpProxies: balancer }, { proxyHeaderMs: 300 })
  const silent = await connected('PROXY TCP4 192.0')
  expect(await clientOfMessage(await connected(header('192.0.2.7')))).toBe('192.0.2.7')
  expect(await silent.rest()).toBe('')
})

test('logs nothing when a load balancer only checks that the port is open', async () => {
  server = await openTestSmtpServer({ smtpProxies: balancer })
  const check = await SmtpClient.connect(server.port)
  check.hangUp()
  expect(await clientOfMessage(await connected(header('192.0.2.7')))).toBe('192.0.2.7')
  expect(server.logged.filter(line => line.includes('PROXY protocol header'))).toEqual([])
})

test('never reads a header from an untrusted address', async () => {
  server = await openTestSmtpServer({ smtpProxies: ['192.0.2.0/24', '2001:db8::/32'] })
  const client = await SmtpClient.connect(server.port)
  expect(await client.reply()).toStartWith('220 ')
  expect(await client.command(header('192.0.2.7').trim())).toMatch(/^50[02] /)
  expect(await client.command('EHLO client.test')).toStartWith('250')
  await client.commands('MAIL FROM:<a@b.test>', 'RCPT TO:<hello@ours.test>', 'DATA')
  expect(await client.command('Subject: x\r\n\r\nx\r\n.')).toStartWith('250 ')
  expect(server.inbound.received.at(-1)?.remoteIp).toBe('127.0.0.1')
  client.hangUp()
})

test('limits the sessions of each client behind a load balancer, not those of the load balancer', async () => {
  server = await openTestSmtpServer({ smtpProxies: ['127.0.0.0/8'], maxSessionsPerAddress: 2 })
  const first = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3']
  for (const address of first) expect(await (await connected(header(address))).reply()).toStartWith('220 ')
  const third = await connected(header('192.0.2.1'))
  expect(await third.rest()).toBe('421 4.7.0 Too many sessions from your address, try again later\r\n')
})

test('limits connections that wait for their header to the maximum of sessions', async () => {
  server = await openTestSmtpServer({ smtpProxies: balancer, maxSessions: 2 }, { proxyHeaderMs: 3000 })
  const silent = [await connected('PROXY '), await connected('PROXY ')]
  const surplus = await connected('PROXY ')
  expect(await surplus.rest()).toStartWith('421 4.7.0 Too many sessions')
  for (const smtpClient of silent) smtpClient.hangUp()
})

test('refuses a session whose header comes during shutdown', async () => {
  server = await openTestSmtpServer({ smtpProxies: balancer })
  const early = await connected('PROXY TCP4 192.0.2.7 ')
  // The server has read the first bytes once it has served another client.
  expect(await clientOfMessage(await connected(header('192.0.2.9')))).toBe('192.0.2.9')
  await server.close()
  early.send('198.51.100.1 65000 25\r\n')
  expect(await early.rest()).toBe('421 4.3.2 The server is shutting down, try again later\r\n')
})
