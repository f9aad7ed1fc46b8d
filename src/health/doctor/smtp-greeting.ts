import { connect } from 'node:net'

/** How a server at the other end greets and what it offers. */
export interface SmtpGreeting {
  readonly banner: string
  /** The lines of its reply to EHLO; empty: it refused. */
  readonly extensions: readonly string[]
}

const maxBytes = 16 * 1024
const quitMs = 2000

/** Connects, says EHLO and QUIT, and begins no mail transaction (RFC 5321 §4.1.1.1). @throws why there is no greeting */
export function fetchGreeting(host: string, port: number, ourName: string, timeoutMs: number): Promise<SmtpGreeting> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    let heard = ''
    let banner: string | undefined
    const end = (give: () => void) => {
      clearTimeout(timer)
      socket.destroy()
      give()
    }
    const fail = (why: string) => end(() => reject(new Error(why)))
    const timer = setTimeout(
      () => fail(banner === undefined ? 'no connection or no greeting in time' : 'no answer to EHLO in time'),
      timeoutMs,
    )
    socket.setEncoding('latin1')
    socket.on('error', error => fail(('code' in error && String(error.code)) || error.message))
    socket.on('close', () => fail('it closed the connection'))
    socket.on('data', (chunk: string) => {
      heard += chunk
      const reply = /^(?:\d{3}-.*\r?\n)*\d{3}(?: .*)?\r?\n/.exec(heard)?.[0]
      if (heard.length > maxBytes) fail('it says too much')
      if (reply === undefined) return
      heard = heard.slice(reply.length)
      const lines = reply.trim().split(/\r?\n/)
      if (banner === undefined) {
        banner = lines[0] ?? ''
        if (!banner.startsWith('220')) return fail(banner)
        socket.write(`EHLO ${ourName}\r\n`)
        return
      }
      const greeting = { banner, extensions: lines.filter(line => line.startsWith('250')).map(line => line.slice(4)) }
      clearTimeout(timer)
      socket.removeAllListeners().on('error', () => undefined)
      socket.setTimeout(quitMs, () => socket.destroy()).unref()
      socket.end('QUIT\r\n')
      resolve(greeting)
    })
  })
}
