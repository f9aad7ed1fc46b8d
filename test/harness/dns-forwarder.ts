import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram'
import { connect, createServer, type Socket } from 'node:net'
import { decode } from 'dns-packet'
import type { Endpoint } from '../../src/base/config/config.ts'
import { freePort } from '../../src/cli/private/process.ts'

/** Forwards questions to a DNS server, and can make some of them fail. */
export interface DnsForwarder {
  readonly endpoint: Endpoint
  /** How questions for a name (lower case) fail; questions for other names are forwarded. */
  readonly faults: Map<string, 'SERVFAIL' | 'silence'>
  /** Called with the name of each question over TCP, which is forwarded once it resolves. */
  onQuestion: (name: string) => Promise<void>
  close(): Promise<void>
}

const servfail = 2

export async function startForwarder(server: Endpoint): Promise<DnsForwarder> {
  const faults: DnsForwarder['faults'] = new Map()
  const port = freePort()
  const endpoint = { host: '127.0.0.1', port }
  const open = new Set<Socket | UdpSocket>()
  const nameIn = (query: Buffer) => decode(query).questions?.[0]?.name.toLowerCase() ?? ''
  const faultFor = (query: Buffer) => faults.get(nameIn(query))
  const forwarder: DnsForwarder = { endpoint, faults, onQuestion: () => Promise.resolve(), close }

  const udp = createSocket('udp4')
  udp.on('message', (query: Buffer, from: RemoteInfo) => {
    const fault = faultFor(query)
    if (fault === 'silence') return
    if (fault === 'SERVFAIL') return udp.send(failed(query), from.port, from.address)
    const upstream = createSocket('udp4')
    open.add(upstream)
    upstream.on('message', answer => {
      udp.send(answer, from.port, from.address)
      open.delete(upstream.close())
    })
    upstream.send(query, server.port, server.host)
  })
  await new Promise<void>(done => udp.bind(port, endpoint.host, done))

  const tcp = createServer(client => {
    open.add(client)
    let received: Buffer = Buffer.alloc(0)
    client.on('error', () => client.destroy())
    client.on('data', async chunk => {
      received = Buffer.concat([received, Buffer.from(chunk)])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      const query = received.subarray(2)
      const fault = faultFor(query)
      if (fault === 'silence') return
      if (fault === 'SERVFAIL') return void client.end(framed(failed(query)))
      await forwarder.onQuestion(nameIn(query))
      const upstream = connect(server.port, server.host, () => upstream.write(received))
      open.add(upstream)
      upstream.on('error', () => client.destroy())
      upstream.pipe(client)
      // The server takes few connections at a time.
      client.on('close', () => upstream.destroy())
    })
  })
  await new Promise<void>(done => tcp.listen(port, endpoint.host, done))

  async function close(): Promise<void> {
    udp.close()
    for (const socket of open) 'destroy' in socket ? socket.destroy() : socket.close()
    await new Promise<void>(done => tcp.close(() => done()))
  }

  return forwarder
}

/** The response SERVFAIL to a question (RFC 1035 §4.1.1). */
function failed(query: Buffer): Buffer {
  const answer = Buffer.from(query)
  answer.writeUInt8(answer.readUInt8(2) | 0x80, 2)
  answer.writeUInt8(servfail, 3)
  return answer
}

function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}
