import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { type CheckedDestination, checkDestination } from '../../../src/events/webhooks/destination/destination.ts'
import { maxResponseBytes, post } from '../../../src/events/webhooks/destination/post.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import { createTestAuthority } from '../../harness/certificates.ts'
import type { DnsNode } from '../../harness/dns.ts'
import { until } from '../../harness/until.ts'
import { startWebhookReceiver } from '../../harness/webhook-receiver.ts'
import { openWebhookFixtures, type WebhookFixtures } from './fixtures.ts'

/** Only 127.0.0.1 stands for a public address here; 127.0.0.2 is loopback. */
let fixtures: WebhookFixtures

beforeAll(async () => {
  fixtures = await openWebhookFixtures(['127.0.0.1'])
})
afterAll(() => fixtures.close())

const create = (url: string) =>
  fixtures.server.call('POST', '/v1/webhooks', { json: { url, types: ['suppression.created'], enabled: false } })

const forms: readonly (readonly [name: string, records: DnsNode, rule: string])[] = [
  ['private.test', { A: ['10.1.2.3'] }, 'private'],
  ['private-172.test', { A: ['172.20.0.1'] }, 'private'],
  ['private-192.test', { A: ['192.168.0.10'] }, 'private'],
  ['loopback.test', { A: ['127.0.0.2'] }, 'loopback'],
  ['link-local.test', { A: ['169.254.10.10'] }, 'link_local'],
  ['metadata.test', { A: ['169.254.169.254'] }, 'metadata'],
  ['shared.test', { A: ['100.64.3.2'] }, 'shared'],
  ['multicast.test', { A: ['224.0.0.5'] }, 'multicast'],
  ['any.test', { A: ['0.0.0.0'] }, 'unspecified'],
  ['broadcast.test', { A: ['255.255.255.255'] }, 'reserved'],
  ['loopback-v6.test', { AAAA: ['::1'] }, 'loopback'],
  ['unique-local.test', { AAAA: ['fd12::1'] }, 'private'],
  ['link-local-v6.test', { AAAA: ['fe80::1'] }, 'link_local'],
  ['multicast-v6.test', { AAAA: ['ff02::1'] }, 'multicast'],
  ['metadata-v6.test', { AAAA: ['fd00:ec2::254'] }, 'metadata'],
  ['mapped.test', { AAAA: ['::ffff:10.0.0.1'] }, 'private'],
  ['nat64.test', { AAAA: ['64:ff9b::a9fe:a9fe'] }, 'metadata'],
  ['six-to-four.test', { AAAA: ['2002:7f00:2::'] }, 'loopback'],
  ['public-and-private.test', { A: ['127.0.0.1', '10.0.0.1'] }, 'private'],
  ['behind-an-alias.test', { CNAME: 'private.test' }, 'private'],
  ['nowhere.test', {}, 'no_address'],
]

test.each(forms)('%s is refused by name of its rule', async (name, records, rule) => {
  fixtures.dns.zone[name] = records
  const { status, json } = await create(`https://${name}/hook`)
  expect([status, json.error]).toEqual([
    400,
    expect.objectContaining({ code: 'invalid_request', param: 'url', reason: rule }),
  ])
  expect(json.error.message).toContain(`\`${rule}\``)
})

test.each([
  ['https://user:secret@private.test/', 'credentials'],
  ['http://private.test/', 'scheme'],
  ['https://[::ffff:127.0.0.2]/', 'loopback'],
  ['https://2130706434/', 'loopback'],
])('%s is refused', async (url, rule) => {
  expect((await create(url)).json.error).toMatchObject({ param: 'url', reason: rule })
})

test('a name that changes its address after it was checked leads nowhere else', async () => {
  const receiver = fixtures.newReceiver('rebind.test')
  const allowed = { A: ['127.0.0.1'], ttl: 0 }
  const inner = { A: ['127.0.0.2'], ttl: 0 }
  const id = await fixtures.newWebhook(receiver)
  // Each delivery asks for A and AAAA once. Whoever asked again before connecting would be led to 127.0.0.2.
  fixtures.dns.zone['rebind.test'] = { behaviour: { successive: [allowed, allowed, inner] }, ttl: 0 }
  const canary = createServer()
  const visits: string[] = []
  canary.on('connection', socket => {
    visits.push(socket.remoteAddress ?? '')
    socket.destroy()
  })
  await new Promise<void>(resolve => canary.listen(receiver.port, '127.0.0.2', resolve))
  fixtures.dns.questions.length = 0
  fixtures.startDispatcher()
  try {
    await fixtures.append(1)
    const [delivery] = await receiver.received(1)
    expect(delivery?.host).toBe(`rebind.test:${receiver.port}`)
    expect(fixtures.dns.questionCount('rebind.test')).toBe(2)
    await fixtures.append(1)
    const failed = await until(async () => {
      const { data } = (await fixtures.server.call('GET', `/v1/webhooks/${id}/deliveries?status=retrying`)).json
      return data[0]
    })
    expect(failed).toMatchObject({ http_status: null, response: null })
    expect(failed.error).toContain('`loopback`: rebind.test is 127.0.0.2, which is in 127.0.0.0/8')
    expect([receiver.deliveries.length, visits]).toEqual([1, []])
  } finally {
    canary.close()
  }
})

/** A destination that was checked, on loopback. */
function loopback(url: string): CheckedDestination {
  return { kind: 'allowed', url: new URL(url), address: '127.0.0.1' }
}

const request = (url: string, signal: AbortSignal = AbortSignal.timeout(5000)) =>
  post({ destination: loopback(url), headers: {}, body: '{}', signal, tls: fixtures.tls })

test('the certificate must be for the name, although the address is connected to', async () => {
  const receiver = fixtures.newReceiver('named.test')
  await expect(request(`https://other.test:${receiver.port}/`)).rejects.toThrow(/altnames|certificate/i)
  // Not over a connection of another name either.
  expect((await request(receiver.url)).status).toBe(401)
  await expect(request(`https://other.test:${receiver.port}/`)).rejects.toThrow(/altnames|certificate/i)
})

test('a receiver whose certificate goes back to no trusted root gets nothing', async () => {
  const other = createTestAuthority()
  const receiver = startWebhookReceiver(other, 'stranger.test')
  try {
    await expect(request(receiver.url)).rejects.toThrow(/issuer|self.signed/i)
    expect(receiver.deliveries.length + receiver.unverified.length).toBe(0)
  } finally {
    await receiver.close()
    other.close()
  }
})

test('of an endless response 64 KB are read', async () => {
  let sent = 0
  let isCanceled = false
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(1)
            sent += 16 * 1024
            controller.enqueue(Buffer.alloc(16 * 1024, 'x'))
          },
          cancel() {
            isCanceled = true
          },
        }),
      ),
  })
  const response = await request(`http://endless.test:${server.port}/`)
  expect([response.status, response.body]).toEqual([200, 'x'.repeat(1024)])
  await until(() => isCanceled)
  expect(sent).toBeLessThan(32 * maxResponseBytes)
  await server.stop(true)
})

test.each(['http', 'https'])('a server that says nothing is left at the time limit (%s)', async scheme => {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.resume()
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const startedMs = performance.now()
  await expect(request(`${scheme}://silent.test:${port}/`, AbortSignal.timeout(300))).rejects.toThrow()
  expect(performance.now() - startedMs).toBeLessThan(1500)
  await until(() => sockets.size === 0, { what: 'the connection is closed' })
  server.close()
})

test('a name is looked up by our own resolver', async () => {
  const resolver = networkResolver({ servers: [fixtures.dns.endpoint], timeoutMs: 1000 })
  const policy = { allowedNetworks: [], allowsHttp: false }
  expect(await checkDestination(new URL('https://localhost/'), policy, resolver)).toMatchObject({ rule: 'no_address' })
})
