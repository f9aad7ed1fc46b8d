import { connect } from 'node:net'
import type { ClamdAddress } from '../../base/config.ts'

const maxReplyBytes = 64 * 1024

/**
 * Says one command to clamd (clamd(8)), with `more` bytes after it, and gives what it answers until it closes the
 * connection or the answer's final NUL; null: nothing within `timeoutMs`.
 * @throws what the socket reports
 */
export function askClamd(
  address: ClamdAddress,
  command: string,
  timeoutMs: number,
  more: Buffer = Buffer.alloc(0),
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = address.kind === 'unix' ? connect(address.path) : connect(address.port, address.host)
    let heard: Buffer = Buffer.alloc(0)
    const end = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(heard.length === 0 ? null : heard.toString('utf8').replaceAll('\0', '').trim())
    }
    const timer = setTimeout(end, timeoutMs)
    socket.on('error', error => {
      clearTimeout(timer)
      socket.destroy()
      // What refuses a stream answers and closes while there is still something on its way.
      if (heard.length > 0) end()
      else reject(error)
    })
    socket.on('connect', () => socket.write(Buffer.concat([Buffer.from(`z${command}\0`), more])))
    socket.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk])
      if (heard.includes(0) || heard.length > maxReplyBytes) end()
    })
    socket.on('close', end)
  })
}
