import { createConnection } from 'node:net'
import type { ClamdAddress } from '../../base/config/config.ts'

const maxReplyBytes = 64 * 1024

/**
 * Says one command to clamd (clamd(8)), with `more` bytes after it and nothing after those, and gives what it answers; empty: it
 * closed the connection without a word.
 * @throws what the socket reports; when it takes longer than `timeoutMs`
 */
export function sendClamdCommand(
  address: ClamdAddress,
  command: string,
  timeoutMs: number,
  more: Buffer = Buffer.alloc(0),
): Promise<string> {
  const where = address.kind === 'unix' ? { path: address.path } : { host: address.host, port: address.port }
  return new Promise((resolve, reject) => {
    const socket = createConnection({ ...where, allowHalfOpen: true })
    let heard: Buffer = Buffer.alloc(0)
    const end = (conclude: () => void) => {
      clearTimeout(timer)
      socket.destroy()
      conclude()
    }
    const answer = () => end(() => resolve(heard.toString('utf8').replaceAll('\0', '').trim()))
    const timer = setTimeout(() => end(() => reject(new Error('it does not answer in time'))), timeoutMs)
    socket.on('error', error => end(() => reject(error)))
    socket.on('connect', () => {
      const said = Buffer.concat([Buffer.from(`z${command}\0`), more])
      if (more.length === 0) socket.write(said)
      else socket.end(said)
    })
    socket.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk])
      if (heard.includes(0) || heard.length > maxReplyBytes) answer()
    })
    socket.on('end', answer)
    socket.on('close', answer)
  })
}
