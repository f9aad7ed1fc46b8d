import { connect, type Socket } from 'node:net'

/** Gives the server's replies one by one: of a multi-line reply the last line (RFC 5321 §4.2.1). */
function replies(socket: Socket): () => Promise<string> {
  let pending = ''
  let waiting: ((line: string) => void) | undefined
  const arrived: string[] = []
  socket.on('data', chunk => {
    pending += chunk.toString('latin1')
    for (let end = pending.indexOf('\r\n'); end >= 0; end = pending.indexOf('\r\n')) {
      const line = pending.slice(0, end)
      pending = pending.slice(end + 2)
      if (line[3] === '-') continue
      if (waiting) {
        const resolve = waiting
        waiting = undefined
        resolve(line)
      } else arrived.push(line)
    }
  })
  return () => {
    const line = arrived.shift()
    return line === undefined ? new Promise(done => (waiting = done)) : Promise.resolve(line)
  }
}

/** A message as it is sent after DATA: dot-stuffed, with the final dot. RFC 5321 §4.5.2. */
function dotStuffed(message: Buffer): Buffer {
  const text = message.toString('latin1').replace(/^\./gm, '..')
  return Buffer.from(`${text}${text.endsWith('\r\n') ? '' : '\r\n'}.\r\n`, 'latin1')
}

export interface SmtpLoadResult {
  readonly count: number
  /** From the first MAIL to the last 250. */
  readonly seconds: number
  /** The CPU time of this process meanwhile. */
  readonly cpuMs: number
}

/**
 * Sends messages, each once, over `connections` reused SMTP connections, with PIPELINING, until all are sent or `maxSeconds`
 * have passed.
 * @param envelope the same for all; `key`: an API key to log in with first
 * @throws Error at the first unexpected reply
 */
export async function sendOverSmtp(
  port: number,
  connections: number,
  envelope: { readonly from: string; readonly to: string; readonly key?: string },
  messages: readonly Buffer[],
  maxSeconds: number,
): Promise<SmtpLoadResult> {
  const ready = messages.map(dotStuffed)
  const expect = async (next: () => Promise<string>, code: string) => {
    const reply = await next()
    if (!reply.startsWith(code)) throw new Error(`expected ${code}, got ${reply}`)
  }
  const sessions = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.setNoDelay()
      const next = replies(socket)
      await expect(next, '220')
      socket.write(`EHLO client.${envelope.from.split('@')[1]}\r\n`)
      await expect(next, '250')
      if (envelope.key !== undefined) {
        socket.write(`AUTH PLAIN ${Buffer.from(`\0bench\0${envelope.key}`).toString('base64')}\r\n`)
        await expect(next, '235')
      }
      return { socket, next }
    }),
  )
  const commands = `MAIL FROM:<${envelope.from}>\r\nRCPT TO:<${envelope.to}>\r\nDATA\r\n`
  let sent = 0
  let count = 0
  const started = performance.now()
  const cpuSince = process.cpuUsage()
  await Promise.all(
    sessions.map(async ({ socket, next }) => {
      for (;;) {
        const message = performance.now() - started < maxSeconds * 1000 ? ready[sent++] : undefined
        if (!message) return
        socket.write(commands)
        await expect(next, '250')
        await expect(next, '250')
        await expect(next, '354')
        socket.write(message)
        await expect(next, '250')
        count++
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpuSince)
  for (const { socket } of sessions) socket.end('QUIT\r\n')
  return { count, seconds, cpuMs: (user + system) / 1000 }
}
