import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram'
import { createServer, type Socket } from 'node:net'
import {
  type Answer,
  type DecodedPacket,
  decode,
  encode,
  type Question as PacketQuestion,
  type RecordType,
} from 'dns-packet'
import type { Endpoint } from '../../src/base/config/config.ts'

/**
 * The records of a name, as in a zone file: `MX: ['10 mx.example.test']`, `TLSA: ['3 1 1 <hex>']`.
 * A TXT record is a text (split into strings of 255 bytes) or its strings one by one.
 */
export interface DnsNode {
  readonly TXT?: readonly (string | readonly (string | Buffer)[])[]
  readonly MX?: readonly string[]
  readonly CNAME?: string
  readonly A?: readonly string[]
  readonly AAAA?: readonly string[]
  readonly PTR?: readonly string[]
  readonly NS?: readonly string[]
  readonly TLSA?: readonly string[]
  /** Seconds; 300 unless given. */
  readonly ttl?: number
  /** How the server handles questions for this name. */
  readonly behaviour?: DnsBehaviour
}

export interface DnsBehaviour {
  /** Responds with this code and no records. */
  readonly rcode?: 'SERVFAIL' | 'REFUSED' | 'FORMERR' | 'NOTIMP'
  /** Does not respond: to any question, or to questions of these types. */
  readonly silent?: boolean | readonly string[]
  /** Does not respond to questions of other types than these. */
  readonly answersOnly?: readonly string[]
  /** Does not respond over this protocol. */
  readonly silentOver?: 'udp' | 'tcp'
  /** Sends truncated responses over UDP (TC), without records. */
  readonly truncated?: boolean
  /** Delays the response. */
  readonly delayMs?: number
  /** Forged UDP responses, with the records `forgedRecords`, sent before the true one. */
  readonly forgeries?: readonly ('wrong-id' | 'wrong-question' | 'wrong-source')[]
  readonly forgedRecords?: DnsNode
  /** Responds with the CNAME only, without the records of its target. */
  readonly cnameAlone?: boolean
  /** The records for each successive question; the last ones stay. */
  readonly successive?: readonly DnsNode[]
  /** Responds with these bytes. */
  readonly garbage?: Buffer
}

/** By name: lower case, no final dot. */
export type DnsZoneFile = Record<string, DnsNode>

export interface ReceivedQuestion {
  readonly name: string
  readonly type: string
  readonly over: 'udp' | 'tcp'
  readonly id: number
  readonly fromPort: number
  /** The UDP payload size of EDNS0; null without it. */
  readonly udpPayloadSize: number | null
  readonly recursionDesired: boolean
}

export interface TestDns {
  readonly endpoint: Endpoint
  /** May be changed while the server runs. */
  readonly zone: DnsZoneFile
  /** All questions, in order. May be emptied (`length = 0`). */
  readonly questions: ReceivedQuestion[]
  /** How many questions there were for this name (and type). */
  questionCount(name: string, type?: string): number
  close(): Promise<void>
}

export interface TestDnsOptions {
  /** The TTL of negative responses, in seconds. */
  readonly soaMinimum?: number
  /** Negative responses do not say how long they hold. */
  readonly omitsSoa?: boolean
}

/** Starts an authoritative DNS server for every name, on UDP and TCP at one free loopback port. */
export async function startDns(zone: DnsZoneFile = {}, options: TestDnsOptions = {}): Promise<TestDns> {
  const questions: ReceivedQuestion[] = []
  const questionsSeen = new Map<string, number>()
  const sockets = new Set<Socket>()
  const { tcp, udp, port } = await bindBoth()
  const otherSocket = createSocket('udp4')
  await new Promise<void>(resolve => otherSocket.bind(0, '127.0.0.1', resolve))

  const nameFor = (question: PacketQuestion): DnsNode | undefined => {
    const node = zone[question.name.toLowerCase()]
    const successive = node?.behaviour?.successive
    if (!successive) return node
    const seen = questionsSeen.get(question.name.toLowerCase()) ?? 0
    questionsSeen.set(question.name.toLowerCase(), seen + 1)
    return successive[Math.min(seen, successive.length - 1)]
  }

  async function answer(query: DecodedPacket, over: 'udp' | 'tcp', fromPort: number): Promise<Reply | undefined> {
    const question = query.questions?.[0]
    if (!question) return undefined
    const opt = query.additionals?.find(additional => additional.type === 'OPT')
    const udpPayloadSize = opt && 'udpPayloadSize' in opt ? opt.udpPayloadSize : null
    questions.push({
      name: question.name.toLowerCase(),
      type: question.type,
      over,
      id: query.id ?? 0,
      fromPort,
      udpPayloadSize,
      recursionDesired: query.flag_rd,
    })
    const node = nameFor(question)
    const behaviour = node?.behaviour ?? {}
    if (behaviour.delayMs) await Bun.sleep(behaviour.delayMs)
    if (behaviour.garbage) return { node, question, bytes: behaviour.garbage, query }
    const { silent } = behaviour
    if (silent === true || (Array.isArray(silent) && silent.includes(question.type))) return undefined
    if (behaviour.answersOnly && !behaviour.answersOnly.includes(question.type)) return undefined
    if (behaviour.silentOver === over) return undefined
    const whole = encode(respond(query, question, recordsFor(zone, question, node, options)))
    const tooLong = over === 'udp' && (behaviour.truncated || whole.length > (udpPayloadSize ?? 512))
    const bytes = tooLong ? encode(respond(query, question, { flags: truncatedFlag })) : whole
    return { node, question, bytes, query }
  }

  udp.on('message', async (message: Buffer, from: RemoteInfo) => {
    const query = read(message)
    const reply = query && (await answer(query, 'udp', from.port))
    if (!reply) return
    for (const forgery of reply.node?.behaviour?.forgeries ?? []) {
      const sender = forgery === 'wrong-source' ? otherSocket : udp
      sendIfOpen(sender, forge(reply, forgery, options), from)
      await Bun.sleep(2)
    }
    sendIfOpen(udp, reply.bytes, from)
  })

  tcp.on('connection', socket => {
    sockets.add(socket)
    let received: Buffer = Buffer.alloc(0)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', async (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 2 && received.length >= received.readUInt16BE(0) + 2) {
        const end = received.readUInt16BE(0) + 2
        const query = read(received.subarray(2, end))
        received = received.subarray(end)
        const reply = query && (await answer(query, 'tcp', socket.remotePort ?? 0))
        if (reply && socket.writable) socket.write(withLength(reply.bytes))
      }
    })
  })

  return {
    endpoint: { host: '127.0.0.1', port },
    zone,
    questions,
    questionCount: (name, type) =>
      questions.filter(question => question.name === name && (!type || question.type === type)).length,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      udp.close()
      otherSocket.close()
      await new Promise<void>(resolve => tcp.close(() => resolve()))
    },
  }
}

interface Reply {
  readonly node: DnsNode | undefined
  readonly question: PacketQuestion
  readonly query: DecodedPacket
  readonly bytes: Buffer
}

const truncatedFlag = 1 << 9
const authoritativeFlag = 1 << 10
const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 }

interface Sections {
  readonly flags?: number
  readonly answers?: Answer[]
  readonly authorities?: Answer[]
}

function respond(query: DecodedPacket, question: PacketQuestion, sections: Sections) {
  return {
    type: 'response' as const,
    id: query.id ?? 0,
    flags: authoritativeFlag | (query.flag_rd ? 1 << 8 : 0) | (sections.flags ?? 0),
    questions: [question],
    answers: sections.answers ?? [],
    authorities: sections.authorities ?? [],
  }
}

function recordsFor(
  zone: DnsZoneFile,
  question: PacketQuestion,
  node: DnsNode | undefined,
  options: TestDnsOptions,
): Sections {
  if (node?.behaviour?.rcode) return { flags: rcodes[node.behaviour.rcode] }
  const answers: Answer[] = []
  const followed = new Set<string>()
  let name = question.name
  let here = node
  while (here?.CNAME !== undefined && question.type !== 'CNAME' && !followed.has(name)) {
    followed.add(name)
    answers.push({ name, type: 'CNAME', ttl: here.ttl ?? 300, data: here.CNAME })
    if (here.behaviour?.cnameAlone) return { answers }
    name = here.CNAME.toLowerCase()
    here = zone[name]
  }
  if (followed.has(name)) return { answers }
  answers.push(...recordsOf(name, question.type, here))
  if (answers.some(answer => answer.type === question.type)) return { answers }
  const exists = here !== undefined || Object.keys(zone).some(value => value.endsWith(`.${name.toLowerCase()}`))
  const minimum = options.soaMinimum ?? 60
  const soa = { mname: 'ns.test', rname: 'hostmaster.test', serial: 1, refresh: 1, retry: 1, expire: 1, minimum }
  return {
    answers,
    flags: exists ? 0 : rcodes.NXDOMAIN,
    authorities: options.omitsSoa
      ? []
      : [{ name: name.split('.').slice(-2).join('.'), type: 'SOA', ttl: 3600, data: soa }],
  }
}

function recordsOf(name: string, type: RecordType, node: DnsNode | undefined): Answer[] {
  const ttl = node?.ttl ?? 300
  switch (type) {
    case 'TXT':
      return (node?.TXT ?? []).map(text => ({ name, type, ttl, data: stringsOf(text) }))
    case 'MX':
      return (node?.MX ?? []).map(value => {
        const [preference, exchange = '.'] = value.split(' ')
        return { name, type, ttl, data: { preference: Number(preference), exchange } }
      })
    case 'TLSA':
      return (node?.TLSA ?? []).map(value => {
        const [usage, selector, matchingType, hex = ''] = value.split(' ')
        const certificate = Buffer.from(hex, 'hex')
        const data = {
          usage: Number(usage),
          selector: Number(selector),
          matchingType: Number(matchingType),
          certificate,
        }
        return { name, type, ttl, data }
      })
    case 'A':
    case 'AAAA':
    case 'PTR':
    case 'NS':
      return (node?.[type] ?? []).map(data => ({ name, type, ttl, data }))
    case 'CNAME':
      return node?.CNAME === undefined ? [] : [{ name, type, ttl, data: node.CNAME }]
    default:
      return []
  }
}

function stringsOf(text: string | readonly (string | Buffer)[]): (string | Buffer)[] {
  if (typeof text !== 'string') return [...text]
  const bytes = Buffer.from(text)
  const strings: Buffer[] = []
  for (let start = 0; start === 0 || start < bytes.length; start += 255)
    strings.push(bytes.subarray(start, start + 255))
  return strings
}

function forge(reply: Reply, forgery: 'wrong-id' | 'wrong-question' | 'wrong-source', options: TestDnsOptions): Buffer {
  const question = {
    ...reply.question,
    name: forgery === 'wrong-question' ? `other.${reply.question.name}` : reply.question.name,
  }
  const records = recordsFor({}, question, reply.node?.behaviour?.forgedRecords ?? {}, options)
  const forged = respond(reply.query, question, records)
  return encode({ ...forged, id: forgery === 'wrong-id' ? (forged.id + 1) & 0xffff : forged.id })
}

function read(message: Buffer): DecodedPacket | undefined {
  try {
    return decode(message)
  } catch {
    return undefined
  }
}

function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function sendIfOpen(socket: UdpSocket, bytes: Buffer, to: RemoteInfo): void {
  try {
    socket.send(bytes, to.port, to.address)
  } catch {
    // The server was closed while the response was delayed.
  }
}

async function bindBoth() {
  for (let attempt = 1; ; attempt++) {
    const tcp = createServer()
    await new Promise<void>(resolve => tcp.listen(0, '127.0.0.1', resolve))
    const address = tcp.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const udp = createSocket('udp4')
    try {
      await new Promise<void>((resolve, reject) => {
        udp.once('error', reject)
        udp.bind(port, '127.0.0.1', resolve)
      })
      return { tcp, udp, port }
    } catch (error) {
      tcp.close()
      udp.close()
      if (attempt === 5) throw error
    }
  }
}
