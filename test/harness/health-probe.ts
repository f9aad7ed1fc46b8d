import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

/**
 * Requests GET /health over one connection every `everyMs` until standard input ends, and prints the latencies in
 * milliseconds: in total, and without the time that the server's main thread waited for a CPU. A late response also counts
 * for the requests that were due meanwhile, with the rest of the wait (coordinated omission).
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
    const onData = (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      if (!answer.endsWith('{"status":"ok"}')) return
      socket.off('data', onData).off('close', onClose)
      resolve()
    }
    const onClose = () => reject(new Error(`the connection ended after: ${answer}`))
    socket.on('data', onData).once('close', onClose)
    socket.write(request)
  })
}

/** How long the server's main thread has waited for a CPU since it started, in milliseconds. */
function cpuWaitMs(): number {
  const [, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number)
  return waited / 1e6
}

const intervalMs = Number(everyMs)
const total: number[] = []
const withoutCpuWait: number[] = []

function count(times: number[], ms: number): void {
  for (let left = ms, first = true; first || left > 0; left -= intervalMs, first = false) times.push(Math.max(left, 0))
}

while (!isOver) {
  const cpuWaitBefore = cpuWaitMs()
  const began = performance.now()
  await ask()
  const ms = performance.now() - began
  count(total, ms)
  count(withoutCpuWait, ms - (cpuWaitMs() - cpuWaitBefore))
  await Bun.sleep(Math.max(intervalMs - (performance.now() - began), 0))
}
process.stdout.write(`${JSON.stringify({ total, withoutCpuWait })}\n`)
process.exit(0)
