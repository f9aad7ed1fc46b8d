import { connect, createServer, type Socket } from 'node:net'

/** A proxy in front of the database that can pause a transaction at its commit, and stop forwarding. */
export interface DatabaseProxy {
  /** The URL of the database through the proxy. */
  readonly url: string
  /**
   * Pauses the first commit on a connection that has sent `mark`: `before` it reaches the database, or `after` the database
   * has committed and before the client gets the response. Resolves once it is paused; it is never resumed.
   */
  pauseCommit(when: 'before' | 'after', mark: string): Promise<void>
  /**
   * Stops forwarding, on the connections that are open and those that are opened meanwhile: `both` ways, or `answers` alone.
   * What was not forwarded is kept, as TCP does.
   */
  silence(what: 'both' | 'answers'): void
  /** Forwards again, first what was kept. */
  resume(): void
  /** Forwards again on new connections; the others stay silent for ever, as behind a firewall that has forgotten them. */
  forget(): void
  /** How many connections from clients are open. */
  readonly connections: number
  close(): void
}

/** The end of a COM_QUERY packet with the statement COMMIT; before it MySQL has query attributes, and MariaDB none. */
const commit = Buffer.from('commit')

/** Starts a proxy for the database at `url`. */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url)
  const { hostname, port } = target
  const socketPath = target.searchParams.get('socketPath')
  let pending: { readonly when: 'before' | 'after'; readonly mark: string; readonly onPaused: () => void } | undefined
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  let silenced: 'both' | 'answers' | null = null
  /** What to do on resume, in order. */
  let kept: (() => void)[] = []
  /** The connections of earlier ones are forgotten. */
  let epoch = 0

  const server = createServer(client => {
    const database = socketPath ? connect(socketPath) : connect(Number(port || 3306), hostname)
    let isPaused = false
    let isMarked = false
    const ownEpoch = epoch
    const unlessSilent = (way: 'both' | 'answers', forward: () => void): void => {
      if (ownEpoch !== epoch) return
      if (silenced === way || silenced === 'both') kept.push(forward)
      else forward()
    }
    clients.add(client)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('data', (bytes: Buffer) => {
      isMarked ||= pending !== undefined && bytes.includes(pending.mark)
      const paused = isMarked && bytes.subarray(-commit.length).equals(commit) ? pending : undefined
      if (paused) {
        pending = undefined
        isPaused = true
      }
      if (paused?.when !== 'before') unlessSilent('both', () => database.write(bytes))
      if (paused?.when === 'before') paused.onPaused()
      else if (paused) database.once('data', () => paused.onPaused())
    })
    database.on('data', bytes => {
      if (!isPaused) unlessSilent('answers', () => client.write(bytes))
    })
    client.on('close', () => {
      clients.delete(client)
      unlessSilent('both', () => database.destroy())
    })
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
    silence(what) {
      silenced = what
    },
    resume() {
      silenced = null
      const forwards = kept
      kept = []
      for (const forward of forwards) forward()
    },
    forget() {
      silenced = null
      kept = []
      epoch++
    },
    get connections() {
      return clients.size
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
