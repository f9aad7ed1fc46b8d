import { createSocket } from 'node:dgram'
import { decode, encode } from 'dns-packet'

const soa = {
  type: 'SOA',
  name: 'example',
  ttl: 300,
  data: {
    mname: 'ns.example',
    rname: 'hostmaster.example',
    serial: 1,
    refresh: 3600,
    retry: 600,
    expire: 86_400,
    minimum: 300,
  },
} as const

/** A DNS server on a free port of 127.0.0.1 that has some TXT records; every other name is NXDOMAIN. */
export async function openDns(records: Readonly<Record<string, string>>): Promise<{ port: number; close(): void }> {
  const socket = createSocket('udp4')
  socket.on('message', (packet, from) => {
    const query = decode(packet)
    const [question] = query.questions ?? []
    const value = question?.type === 'TXT' ? records[question.name.toLowerCase()] : undefined
    const strings = value?.match(/.{1,255}/g)?.map(value => Buffer.from(value)) ?? []
    const answer = encode({
      type: 'response',
      id: query.id ?? 0,
      flags: value === undefined ? 3 : 0,
      questions: query.questions ?? [],
      // Without an SOA a negative answer is not cached (RFC 2308 §5), and would be queried again for each message.
      authorities: value === undefined ? [soa] : [],
      answers: question && value !== undefined ? [{ type: 'TXT', name: question.name, ttl: 300, data: strings }] : [],
    })
    socket.send(answer, from.port, from.address)
  })
  await new Promise<void>(done => socket.bind(0, '127.0.0.1', done))
  return { port: socket.address().port, close: () => socket.close() }
}
