import { createServer, type Socket } from 'node:net'

/**
 * What a scripted relay does at one point of the conversation: a reply, `close`, both (`421 bye close`), or nothing more
 * on this connection (empty).
 */
export type ScriptStep = string

/** The replies of a relay; what is absent is answered as by one that takes everything. */
export interface RelayScript {
  readonly banner?: ScriptStep | ((connection: number) => ScriptStep)
  readonly ehlo?: ScriptStep | ((connection: number) => ScriptStep)
  readonly auth?: ScriptStep
  readonly mail?: ScriptStep | ((from: string) => ScriptStep)
  readonly rcpt?: ScriptStep | ((to: string, from: string) => ScriptStep)
  readonly data?: ScriptStep | ((from: string) => ScriptStep)
  readonly dot?: ScriptStep | ((message: Buffer, from: string) => ScriptStep)
  /** How long after the final dot the reply to it comes, in milliseconds. */
  readonly dotAfterMs?: number
  readonly rset?: ScriptStep | (() => ScriptStep)
  /** Close a connection after so many messages, without a word. */
  readonly messagesPerConnection?: number
}

/** A message as it came over the wire, dots and all. */
export interface RelayedMessage {
  readonly from: string
  readonly to: readonly string[]
  /** Between 354 and the final dot, byte for byte. */
  readonly wire: Buffer
  /** The connection's number, from 0. */
  readonly connection: number
}

export interface ScriptedRelay {
  readonly url: string
  readonly accepted: RelayedMessage[]
  /** How many connections there were. */
  connections(): number
  /** Commands in order, with the connection's number in front. */
  readonly commands: string[]
  /** Replaces the script, also for connections that are open. */
  setScript(script: RelayScript): void
  /** Ends all open connections without a word. */
  dropConnections(): Promise<void>
  close(): Promise<void>
}

const takesAll = {
  banner: '220 relay.test ESMTP',
  ehlo: '250-relay.test\r\n250-PIPELINING\r\n250-SIZE 1000000\r\n250 SMTPUTF8',
  auth: '235 2.7.0 ok',
  mail: '250 2.1.0 ok',
  rcpt: '250 2.1.5 ok',
  data: '354 go on',
  dot: '250 2.0.0 Ok: queued as ABC123',
  rset: '250 2.0.0 ok',
} as const

/** A relay on a raw socket that follows a script, on loopback and a port of the kernel's choice. */
export async function startScriptedRelay(first: RelayScript = {}): Promise<ScriptedRelay> {
  let script = first
  let connections = 0
  const sockets = new Set<Socket>()
  const taken: RelayedMessage[] = []
  const commands: string[] = []

  const server = createServer(socket => {
    const connection = connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    let input: Buffer = Buffer.alloc(0)
    let isData = false
    let isOver = false
    let messages = 0
    let hasMail = false
    let from = ''
    let to: string[] = []

    /** False when the conversation is over. */
    const say = (step: ScriptStep): boolean => {
      if (step === '') {
        socket.pause()
        return false
      }
      const closes = step === 'close' || step.endsWith(' close')
      const reply = step.replace(/ ?close$/, '')
      if (reply) socket.write(`${reply}\r\n`)
      if (closes) {
        isOver = true
        socket.end()
      }
      return !closes
    }

    const onCommand = (line: string): boolean => {
      commands.push(`${connection} ${line}`)
      const verb = line.slice(0, 4).toUpperCase()
      switch (verb) {
        case 'EHLO':
          return say(typeof script.ehlo === 'function' ? script.ehlo(connection) : (script.ehlo ?? takesAll.ehlo))
        case 'AUTH':
          return say(script.auth ?? takesAll.auth)
        case 'MAIL': {
          from = /<(.*?)>/.exec(line)?.[1] ?? ''
          to = []
          if (hasMail) return say('503 5.5.1 nested MAIL')
          const step = typeof script.mail === 'function' ? script.mail(from) : (script.mail ?? takesAll.mail)
          hasMail = step.startsWith('2')
          return say(step)
        }
        case 'RCPT': {
          if (!hasMail) return say('503 5.5.1 MAIL first')
          const recipient = /<(.*?)>/.exec(line)?.[1] ?? ''
          const step = typeof script.rcpt === 'function' ? script.rcpt(recipient, from) : (script.rcpt ?? takesAll.rcpt)
          if (step.startsWith('2')) to.push(recipient)
          return say(step)
        }
        case 'DATA': {
          if (to.length === 0) return say('554 5.5.1 no valid recipients')
          const step = typeof script.data === 'function' ? script.data(from) : (script.data ?? takesAll.data)
          isData = step.startsWith('3')
          return say(step)
        }
        case 'RSET':
          hasMail = false
          return say(typeof script.rset === 'function' ? script.rset() : (script.rset ?? takesAll.rset))
        case 'QUIT':
          return say('221 2.0.0 bye close')
        default:
          return say('502 5.5.2 what')
      }
    }

    const onMessage = (wire: Buffer): boolean => {
      isData = false
      hasMail = false
      const step = typeof script.dot === 'function' ? script.dot(wire, from) : (script.dot ?? takesAll.dot)
      // One that closes here has taken it, for all that the client can know.
      if (step.startsWith('2') || step === 'close') taken.push({ from, to, wire, connection })
      messages++
      const last = messages === script.messagesPerConnection ? `${step} close` : step
      if (script.dotAfterMs === undefined) return say(last)
      setTimeout(() => say(last), script.dotAfterMs)
      return true
    }

    socket.on('data', (chunk: Buffer) => {
      // What is still under way to one that closed is not heard.
      if (isOver) return
      input = Buffer.concat([input, chunk])
      for (;;) {
        const mark = isData ? '\r\n.\r\n' : '\r\n'
        const end = input.indexOf(mark)
        if (end < 0) return
        const part = input.subarray(0, isData ? end + 2 : end)
        input = input.subarray(end + mark.length)
        if (!(isData ? onMessage(part) : onCommand(part.toString('latin1')))) return
      }
    })
    say(typeof script.banner === 'function' ? script.banner(connection) : (script.banner ?? takesAll.banner))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const drop = async () => {
    const closed = Array.from(sockets, socket => new Promise(resolve => socket.once('close', resolve)))
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
  }
  return {
    url: `smtp://127.0.0.1:${port}`,
    accepted: taken,
    commands,
    connections: () => connections,
    setScript(next) {
      script = next
    },
    dropConnections: drop,
    async close() {
      await drop()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
