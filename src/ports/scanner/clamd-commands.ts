import { createConnection } from 'node:net'
import type { ClamdAddress } from '../../base/config/config.ts'

const maxReplyBytes = 64 * 1024

/**
 * Sends one command to clamd (clamd(8)), followed by the bytes of `body`, if any. Resolves to its reply; empty: clamd closed
 * the connection without one.
 * @throws when the socket fails, or there is no reply within `timeoutMs`
 */
export function sendClamdCommand(
  address: ClamdAddress,
  command: string,
  timeoutMs: number,
  body: Buffer = Buffer.alloc(0),
): Promise<string> {
  const where = address.kind === 'unix' ? { path: address.path } : { host: address.host, port: address.port }
  return new Promise((resolve, reject) => {
    const socket = createConnection({ ...where, allowHalfOpen: true })
    let received: Buffer = Buffer.alloc(0)
    const end = (conclude: () => void) => {
      clearTimeout(timer)
      socket.destroy()
      conclude()
    }
    const finish = () => end(() => resolve(received.toString('utf8').replaceAll('\0', '').trim()))
    const timer = setTimeout(() => end(() => reject(new Error(`no reply within ${timeoutMs} ms`))), timeoutMs)
    socket.on('error', error => end(() => reject(error)))
    socket.on('connect', () => {
      const request = Buffer.concat([Buffer.from(`z${command}\0`), body])
      if (body.length === 0) socket.write(request)
      else socket.end(request)
    })
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (received.includes(0) || received.length > maxReplyBytes) finish()
    })
    socket.on('end', finish)
    socket.on('close', finish)
  })
}
