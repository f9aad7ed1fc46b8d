// Every session begins so.
const begin = Buffer.from('zIDSESSION\0')
// INSTREAM ends with a chunk of no bytes; mail itself has no NUL.
const end = Buffer.alloc(4)

/** Answers every message as clean, at once, in clamd's protocol. Gives its port on 127.0.0.1. */
export function openFreeScanner(): number {
  const server = Bun.listen<ScannerConnection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { tail: Buffer.alloc(0), commands: 0 }
      },
      data(socket, bytes) {
        const connection = socket.data
        connection.isSession ??= bytes.subarray(0, begin.length).equals(begin)
        const tail = Buffer.concat([connection.tail, bytes.subarray(-end.length)]).subarray(-end.length)
        connection.tail = tail
        if (!tail.equals(end)) return
        connection.tail = Buffer.alloc(0)
        if (connection.isSession) socket.write(`${++connection.commands}: stream: OK\0`)
        else socket.end('stream: OK\0')
      },
    },
  })
  return server.port
}

interface ScannerConnection {
  tail: Buffer
  commands: number
  /** Any other connection is for one scan. Absent: nothing has come yet. */
  isSession?: boolean
}
