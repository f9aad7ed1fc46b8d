import { connect, type Socket } from 'node:net'

/** Takes the lines of one server's replies; waits for the end of each reply, multi-line ones too (RFC 5321 §4.2.1). */
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
        const take = waiting
        waiting = undefined
        take(line)
      } else arrived.push(line)
    }
  })
  return () => {
    const line = arrived.shift()
    return line === undefined ? new Promise(done => (waiting = done)) : Promise.resolve(line)
  }
}

/** The bytes of a message as DATA takes them: dots stuffed, with the final dot. RFC 5321 §4.5.2. */
function dotStuffed(message: Buffer): Buffer {
  const text = message.toString('latin1').replace(/^\./gm, '..')
  return Buffer.from(`${text}${text.endsWith('\r\n') ? '' : '\r\n'}.\r\n`, 'latin1')
}

/**
 * Sends messages, each once, over `connections` reused SMTP connections, with PIPELINING, until all are sent or `maxSeconds`
 * have passed. Gives how many, and the seconds from the first MAIL to the last 250.
 * @throws at the first answer that is not the expected one
 */
export async function sendOverSmtp(
  port: number,
  connections: number,
  envelope: { readonly from: string; readonly to: string },
  messages: readonly Buffer[],
  maxSeconds: number,
): Promise<{ readonly count: number; readonly seconds: number }> {
  const ready = messages.map(dotStuffed)
  const expect = async (next: () => Promise<string>, code: string) => {
    const reply = await next()
    if (!reply.startsWith(code)) throw new Error(`expected ${code}, got ${reply}`)
  }
  const lanes = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.setNoDelay()
      const next = replies(socket)
      await expect(next, '220')
      socket.write(`EHLO client.${envelope.from.split('@')[1]}\r\n`)
      await expect(next, '250')
      return { socket, next }
    }),
  )
  const commands = `MAIL FROM:<${envelope.from}>\r\nRCPT TO:<${envelope.to}>\r\nDATA\r\n`
  let taken = 0
  let count = 0
  const started = performance.now()
  await Promise.all(
    lanes.map(async ({ socket, next }) => {
      for (;;) {
        const message = performance.now() - started < maxSeconds * 1000 ? ready[taken++] : undefined
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
  for (const { socket } of lanes) socket.end('QUIT\r\n')
  return { count, seconds }
}
