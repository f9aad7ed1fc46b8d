import { connect, type Socket } from 'node:net'
import { until } from './until.ts'

/** Clients that send a byte now and then, also after the server has closed its side, and never close theirs. */
export interface TricklingClients {
  /** What each of them has received since it began to trickle. */
  received(): readonly string[]
  close(): void
}

export interface TrickleOptions {
  readonly count: number
  /** What each sends first, step by step, and what it waits for after each step. */
  readonly begin: readonly (readonly [send: string, expected: RegExp])[]
  /** What each sends then, over and over; empty: nothing. */
  readonly trickle: string
}

const everyMs = 50

/** Connects the clients; resolves when all of them trickle. */
export async function startTricklingClients(port: number, options: TrickleOptions): Promise<TricklingClients> {
  const { count, begin, trickle } = options
  const clients = await Promise.all(
    Array.from({ length: count }, async () => {
      const { socket, text } = await openClient(port)
      let from = 0
      for (const [send, expected] of begin) {
        if (send !== '') socket.write(send)
        await until(() => expected.test(text().slice(from)), { what: `${send} is answered`, details: text })
        from = text().length
      }
      return { socket, text: () => text().slice(from) }
    }),
  )
  const timers = clients.map(({ socket }) => setInterval(() => trickle !== '' && socket.write(trickle), everyMs))
  return {
    received: () => clients.map(client => client.text()),
    close() {
      for (const timer of timers) clearInterval(timer)
      for (const { socket } of clients) socket.destroy()
    },
  }
}

async function openClient(port: number): Promise<{ readonly socket: Socket; readonly text: () => string }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.setNoDelay()
  let received = ''
  socket.on('data', chunk => {
    received += chunk.toString('latin1')
  })
  // The server may reset a connection that goes on sending.
  socket.on('error', () => undefined)
  await new Promise(resolve => socket.once('connect', resolve))
  return { socket, text: () => received }
}
