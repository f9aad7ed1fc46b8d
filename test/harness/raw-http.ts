import { connect } from 'node:net'

/** The response to raw bytes on a connection of their own, until it is closed, at the latest after `withinMs`. */
export async function rawHttp(port: number, bytes: string | Buffer, withinMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let response = ''
  const closed = new Promise(resolve => socket.on('close', resolve))
  socket.on('data', received => {
    response += received
  })
  socket.on('error', () => undefined)
  socket.write(bytes)
  await Promise.race([closed, Bun.sleep(withinMs)])
  socket.destroy()
  return response
}
