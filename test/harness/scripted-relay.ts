import { createServer, type Socket } from 'node:net'

/**
 * What a scripted relay does at one step of the session: a reply, `close`, both (`421 bye close`), or nothing more on this
 * connection (empty).
 */
export type ScriptStep = string

/** The replies of a relay; by default it accepts everything. */
export interface RelayScript {
  readonly banner?: ScriptStep | ((connection: number) => ScriptStep)
  readonly ehlo?: ScriptStep | ((connection: number) => ScriptStep)
  readonly auth?: ScriptStep
  readonly mail?: ScriptStep | ((from: string) => ScriptStep)
  readonly rcpt?: ScriptStep | ((to: string, from: string) => ScriptStep)
  readonly data?: ScriptStep | ((from: string) => ScriptStep)
  readonly dot?: ScriptStep | ((message: Buffer, from: string) => ScriptStep)
  /** The delay of the reply to the final dot, in milliseconds. */
  readonly dotAfterMs?: number | ((to: readonly string[]) => number)
  readonly rset?: ScriptStep | (() => ScriptStep)
  /** Closes a connection after so many messages. */
  readonly messagesPerConnection?: number
}

/** A message as it came over the wire, with dot-stuffing. */
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
  /** The number of connections so far. */
  connections(): number
  /** The number of connections that are open. */
  openConnections(): number
  /** Commands in order, each after the number of its connection. */
  readonly commands: string[]
  script(): RelayScript
  /** Replaces the script, for open connections as well. */
  setScript(script: RelayScript): void
  /** Closes all open connections without a reply. */
  dropConnections(): Promise<void>
  close(): Promise<void>
}

const defaultReplies = {
  banner: '220 relay.test ESMTP',
  ehlo: '250-relay.test\r\n250-PIPELINING\r\n250-SIZE 1000000\r\n250 SMTPUTF8',
  auth: '235 2.7.0 ok',
  mail: '250 2.1.0 ok',
  rcpt: '250 2.1.5 ok',
  data: '354 go on',
  dot: '250 2.0.0 Ok: queued as ABC123',
  rset: '250 2.0.0 ok',
} as const

/** Starts a relay on a raw socket that follows a script, on a free loopback port. */
export async function startScriptedRelay(first: RelayScript = {}): Promise<ScriptedRelay> {
  let script = first
  let connections = 0
  const sockets = new Set<Socket>()
  const accepted: RelayedMessage[] = []
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

    /** Sends the reply of a step. Returns false when the session is over. */
    const reply = (step: ScriptStep): boolean => {
      if (step === '') {
        socket.pause()
        return false
      }
      const closes = step === 'close' || step.endsWith(' close')
      const text = step.replace(/ ?close$/, '')
      if (text) socket.write(`${text}\r\n`)
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
          return reply(
            typeof script.ehlo === 'function' ? script.ehlo(connection) : (script.ehlo ?? defaultReplies.ehlo),
          )
        case 'AUTH':
          return reply(script.auth ?? defaultReplies.auth)
        case 'MAIL': {
          from = /<(.*?)>/.exec(line)?.[1] ?? ''
          to = []
          if (hasMail) return reply('503 5.5.1 nested MAIL')
          const step = typeof script.mail === 'function' ? script.mail(from) : (script.mail ?? defaultReplies.mail)
          hasMail = step.startsWith('2')
          return reply(step)
        }
        case 'RCPT': {
          if (!hasMail) return reply('503 5.5.1 MAIL first')
          const recipient = /<(.*?)>/.exec(line)?.[1] ?? ''
          const step =
            typeof script.rcpt === 'function' ? script.rcpt(recipient, from) : (script.rcpt ?? defaultReplies.rcpt)
          if (step.startsWith('2')) to.push(recipient)
          return reply(step)
        }
        case 'DATA': {
          if (to.length === 0) return reply('554 5.5.1 no valid recipients')
          const step = typeof script.data === 'function' ? script.data(from) : (script.data ?? defaultReplies.data)
          isData = step.startsWith('3')
          return reply(step)
        }
        case 'RSET':
          hasMail = false
          return reply(typeof script.rset === 'function' ? script.rset() : (script.rset ?? defaultReplies.rset))
        case 'QUIT':
          return reply('221 2.0.0 bye close')
        default:
          return reply('502 5.5.2 what')
      }
    }

    const onMessage = (wire: Buffer): boolean => {
      isData = false
      hasMail = false
      const step = typeof script.dot === 'function' ? script.dot(wire, from) : (script.dot ?? defaultReplies.dot)
      // A relay that closes here may have accepted it, as far as the client can know.
      if (step.startsWith('2') || step === 'close') accepted.push({ from, to, wire, connection })
      messages++
      const lastStep = messages === script.messagesPerConnection ? `${step} close` : step
      const delayMs = typeof script.dotAfterMs === 'function' ? script.dotAfterMs(to) : script.dotAfterMs
      if (delayMs === undefined) return reply(lastStep)
      setTimeout(() => reply(lastStep), delayMs)
      return true
    }

    socket.on('data', (chunk: Buffer) => {
      // Input after the relay closed is ignored.
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
    reply(typeof script.banner === 'function' ? script.banner(connection) : (script.banner ?? defaultReplies.banner))
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
    accepted,
    commands,
    connections: () => connections,
    openConnections: () => sockets.size,
    script: () => script,
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
