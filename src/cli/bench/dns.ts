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

/** A DNS server on a free port of 127.0.0.1 that knows some TXT records and says of all else that it does not exist. */
export async function openDns(records: Readonly<Record<string, string>>): Promise<{ port: number; close(): void }> {
  const socket = createSocket('udp4')
  socket.on('message', (packet, from) => {
    const asked = decode(packet)
    const [question] = asked.questions ?? []
    const value = question?.type === 'TXT' ? records[question.name.toLowerCase()] : undefined
    const strings = value?.match(/.{1,255}/g)?.map(value => Buffer.from(value)) ?? []
    const answer = encode({
      type: 'response',
      id: asked.id ?? 0,
      flags: value === undefined ? 3 : 0,
      questions: asked.questions ?? [],
      // Without it an absence may not be kept (RFC 2308 §5), and would be asked for again with each message.
      authorities: value === undefined ? [soa] : [],
      answers: question && value !== undefined ? [{ type: 'TXT', name: question.name, ttl: 300, data: strings }] : [],
    })
    socket.send(answer, from.port, from.address)
  })
  await new Promise<void>(done => socket.bind(0, '127.0.0.1', done))
  return { port: socket.address().port, close: () => socket.close() }
}
