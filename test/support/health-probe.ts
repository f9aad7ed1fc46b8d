import { connect } from 'node:net'

/** Asks GET /health over one connection, each time `everyMs` after the last began, until standard input ends. */
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

/** Milliseconds until the answer was there. */
function ask(): Promise<number> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    let answer = ''
    const take = (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      if (!answer.endsWith('{"status":"ok"}')) return
      socket.off('data', take).off('close', gone)
      resolve(performance.now() - began)
    }
    const gone = () => reject(new Error(`the connection ended; heard ${answer}`))
    socket.on('data', take).once('close', gone)
    socket.write(request)
  })
}

for (let next = performance.now(); !isOver; ) {
  times.push(await ask())
  next = Math.max(next + Number(everyMs), performance.now())
  await Bun.sleep(next - performance.now())
}
process.stdout.write(`${JSON.stringify(times)}\n`)
process.exit(0)
