import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

/**
 * Sends the message in a file from several clients at the same time, with the `%` in its header replaced by the client's
 * number, and prints the final reply to each. The file has CRLF line ends, and no line starts with a dot.
 */
const [port = '', clients = '1', to = '', file = ''] = process.argv.slice(2)
const message = readFileSync(file)
const headEnd = message.indexOf('\r\n\r\n')
const body = message.subarray(headEnd)
const pieceBytes = 256 * 1024

async function send(client: number): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1')
  let received = ''
  let wake: () => void = () => undefined
  let writeOn: () => void = () => undefined
  socket.on('data', chunk => {
    received += chunk.toString('latin1')
    wake()
  })
  socket.on('error', () => undefined)
  socket.on('drain', () => writeOn())
  socket.on('close', () => {
    received += '000 closed\r\n'
    wake()
    writeOn()
  })
  const reply = async () => {
    for (;;) {
      const match = /^(?:\d{3}-.*\r\n)*(\d{3} .*)\r\n/.exec(received)
      if (match?.[1]) {
        received = received.slice(match[0].length)
        return match[1]
      }
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  await reply()
  for (const line of ['EHLO client.example', 'MAIL FROM:<load@client.example>', `RCPT TO:<${to}>`, 'DATA']) {
    socket.write(`${line}\r\n`)
    const answer = await reply()
    if (!/^[23]/.test(answer)) return answer
  }
  socket.write(message.subarray(0, headEnd).toString('latin1').replaceAll('%', String(client)))
  for (let at = 0; at < body.length && !socket.destroyed; at += pieceBytes)
    if (!socket.write(body.subarray(at, at + pieceBytes)))
      await new Promise<void>(resolve => {
        writeOn = resolve
      })
  socket.write('\r\n.\r\n')
  const answer = await reply()
  socket.end('QUIT\r\n')
  return answer
}

const answers = await Promise.all(Array.from({ length: Number(clients) }, (_, client) => send(client)))
process.stdout.write(`${JSON.stringify(answers)}\n`)
process.exit(0)
