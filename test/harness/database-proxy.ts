import { connect, createServer, type Socket } from 'node:net'

/** A proxy in front of the database that can pause a transaction at its commit. */
export interface DatabaseProxy {
  /** The URL of the database through the proxy. */
  readonly url: string
  /**
   * Pauses the first commit on a connection that has sent `mark`: `before` it reaches the database, or `after` the database
   * has committed and before the client gets the response. Resolves once it is paused; it is never resumed.
   */
  pauseCommit(when: 'before' | 'after', mark: string): Promise<void>
  close(): void
}

/** The end of a COM_QUERY packet with the statement COMMIT. */
const commit = Buffer.from('\x03commit')

/** Starts a proxy for the database at `url`. */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url)
  const { hostname, port } = target
  const socketPath = target.searchParams.get('socketPath')
  let pending: { readonly when: 'before' | 'after'; readonly mark: string; readonly onPaused: () => void } | undefined
  const sockets = new Set<Socket>()

  const server = createServer(client => {
    const database = socketPath ? connect(socketPath) : connect(Number(port || 3306), hostname)
    let isPaused = false
    let isMarked = false
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('data', (bytes: Buffer) => {
      isMarked ||= pending !== undefined && bytes.includes(pending.mark)
      const paused = isMarked && bytes.includes(commit) ? pending : undefined
      if (paused) {
        pending = undefined
        isPaused = true
      }
      if (paused?.when !== 'before') database.write(bytes)
      if (paused?.when === 'before') paused.onPaused()
      else if (paused) database.once('data', () => paused.onPaused())
    })
    database.on('data', bytes => {
      if (!isPaused) client.write(bytes)
    })
    client.on('close', () => database.destroy())
    database.on('close', () => client.destroy())
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen')
  target.searchParams.delete('socketPath')
  target.host = `127.0.0.1:${address.port}`
  return {
    url: target.href,
    pauseCommit: (when, mark) =>
      new Promise<void>(onPaused => {
        pending = { when, mark, onPaused }
      }),
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
