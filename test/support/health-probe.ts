import { connect } from 'node:net'

/**
 * Asks GET /health over one connection every `everyMs` until standard input ends, and prints how long after its time each
 * answer came, in milliseconds: where one is late, so are those whose time was meanwhile.
 */
const [host = '', port = '', everyMs = '20'] = process.argv.slice(2)
const request = `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`

const socket = connect(Number(port), host)
socket.setNoDelay()
await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))

const times: number[] = []
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

for (let due = performance.now(); !isOver; due += Number(everyMs)) {
  const waitMs = due - performance.now()
  if (waitMs > 0) await Bun.sleep(waitMs)
  const began = waitMs > 0 ? performance.now() : due
  await ask()
  times.push(performance.now() - began)
}
process.stdout.write(`${JSON.stringify(times)}\n`)
process.exit(0)
