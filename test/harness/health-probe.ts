import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

/**
 * Asks GET /health over one connection every `everyMs` until standard input ends, and prints how long each answer took, in
 * milliseconds: in all, and without what the server's main thread waited for a processor meanwhile. Who would have asked
 * while an answer was late would have waited for the rest of it, and counts too.
 */
const [host = '', port = '', pid = '', everyMs = '20'] = process.argv.slice(2)
const request = `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`

const socket = connect(Number(port), host)
socket.setNoDelay()
await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))

let isOver = false
process.stdin.on('end', () => {
  isOver = true
})
process.stdin.resume()
process.stdout.write('ready\n')

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const take = (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      if (!answer.endsWith('{"status":"ok"}')) return
      socket.off('data', take).off('close', gone)
      resolve()
    }
    const gone = () => reject(new Error(`the connection ended; heard ${answer}`))
    socket.on('data', take).once('close', gone)
    socket.write(request)
  })
}

/** How long the server's main thread has waited for a processor since it began, in milliseconds. */
function waitedMs(): number {
  const [, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number)
  return waited / 1e6
}

const every = Number(everyMs)
const inAll: number[] = []
const own: number[] = []

function count(times: number[], ms: number): void {
  for (let left = ms, first = true; first || left > 0; left -= every, first = false) times.push(Math.max(left, 0))
}

while (!isOver) {
  const waited = waitedMs()
  const began = performance.now()
  await ask()
  const ms = performance.now() - began
  count(inAll, ms)
  count(own, ms - (waitedMs() - waited))
  await Bun.sleep(Math.max(every - (performance.now() - began), 0))
}
process.stdout.write(`${JSON.stringify({ inAll, own })}\n`)
process.exit(0)
