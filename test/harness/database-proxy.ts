import { connect, createServer, type Socket } from 'node:net'

/** A way to the database that can hold a transaction at its commit. */
export interface DatabaseProxy {
  /** The address of the same database, through the gate. */
  readonly url: string
  /**
   * Holds the first commit on a connection on which `mark` was sent before: `before` it reaches the database, or `after` the database has done it and before
   * the answer reaches the client. Resolves once it is held; it stays so.
   */
  pauseCommit(when: 'before' | 'after', mark: string): Promise<void>
  close(): void
}

/** A command of the protocol: three bytes of length, a number, COM_QUERY, the statement. */
const commit = Buffer.from('\x03commit')

/** Opens a gate to the database at `url`. */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url)
  const { hostname, port } = target
  const socketPath = target.searchParams.get('socketPath')
  let armed: { readonly when: 'before' | 'after'; readonly mark: string; readonly held: () => void } | undefined
  const sockets = new Set<Socket>()

  const server = createServer(client => {
    const database = socketPath ? connect(socketPath) : connect(Number(port || 3306), hostname)
    let isHeld = false
    let isMarked = false
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('data', (bytes: Buffer) => {
      isMarked ||= armed !== undefined && bytes.includes(armed.mark)
      const taken = isMarked && bytes.includes(commit) ? armed : undefined
      if (taken) {
        armed = undefined
        isHeld = true
      }
      if (taken?.when !== 'before') database.write(bytes)
      if (taken?.when === 'before') taken.held()
      else if (taken) database.once('data', () => taken.held())
    })
    database.on('data', bytes => {
      if (!isHeld) client.write(bytes)
    })
    client.on('close', () => database.destroy())
    database.on('close', () => client.destroy())
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the gate does not listen')
  target.searchParams.delete('socketPath')
  target.host = `127.0.0.1:${address.port}`
  return {
    url: target.href,
    pauseCommit: (when, mark) =>
      new Promise<void>(held => {
        armed = { when, mark, held }
      }),
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
