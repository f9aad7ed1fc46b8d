import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram'
import { connect, createServer, type Socket } from 'node:net'
import { decode } from 'dns-packet'
import type { Endpoint } from '../../src/base/config/config.ts'
import { freePort } from '../../src/cli/private/process.ts'

/** Stands before a DNS server, hands it every question, and may get in the way of some. */
export interface DnsForwarder {
  readonly endpoint: Endpoint
  /** What becomes of questions for a name (lower case); those for other names pass. */
  readonly faults: Map<string, 'SERVFAIL' | 'silence'>
  /** Called with the name of each question over TCP, which is answered once it is done. */
  onQuestion: (name: string) => Promise<void>
  close(): Promise<void>
}

const servfail = 2

export async function startForwarder(server: Endpoint): Promise<DnsForwarder> {
  const trouble: DnsForwarder['faults'] = new Map()
  const port = freePort()
  const endpoint = { host: '127.0.0.1', port }
  const open = new Set<Socket | UdpSocket>()
  const nameIn = (query: Buffer) => decode(query).questions?.[0]?.name.toLowerCase() ?? ''
  const troubleWith = (query: Buffer) => trouble.get(nameIn(query))
  const forwarder: DnsForwarder = { endpoint, faults: trouble, onQuestion: () => Promise.resolve(), close }

  const udp = createSocket('udp4')
  udp.on('message', (query: Buffer, from: RemoteInfo) => {
    const behaviour = troubleWith(query)
    if (behaviour === 'silence') return
    if (behaviour === 'SERVFAIL') return udp.send(failed(query), from.port, from.address)
    const asking = createSocket('udp4')
    open.add(asking)
    asking.on('message', answer => {
      udp.send(answer, from.port, from.address)
      open.delete(asking.close())
    })
    asking.send(query, server.port, server.host)
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
      const behaviour = troubleWith(query)
      if (behaviour === 'silence') return
      if (behaviour === 'SERVFAIL') return void client.end(framed(failed(query)))
      await forwarder.onQuestion(nameIn(query))
      const asking = connect(server.port, server.host, () => asking.write(received))
      open.add(asking)
      asking.on('error', () => client.destroy())
      asking.pipe(client)
      // The server takes few connections at a time.
      client.on('close', () => asking.destroy())
    })
  })
  await new Promise<void>(done => tcp.listen(port, endpoint.host, done))

  async function close(): Promise<void> {
    udp.close()
    for (const each of open) 'destroy' in each ? each.destroy() : each.close()
    await new Promise<void>(done => tcp.close(() => done()))
  }

  return forwarder
}

/** The question, sent back as an answer of the server's failure (RFC 1035 §4.1.1). */
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
