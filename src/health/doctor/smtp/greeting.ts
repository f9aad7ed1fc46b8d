import { connect } from 'node:net'

/** The greeting of an SMTP server, and what it offers. */
export interface SmtpGreeting {
  readonly banner: string
  /** The lines of its reply to EHLO; empty: it rejected EHLO. */
  readonly extensions: readonly string[]
}

const maxBytes = 16 * 1024
const quitMs = 2000

/** Connects and sends EHLO and QUIT; starts no mail transaction (RFC 5321 §4.1.1.1). @throws Error with the reason why there is no greeting */
export function fetchGreeting(host: string, port: number, ourName: string, timeoutMs: number): Promise<SmtpGreeting> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    let received = ''
    let banner: string | undefined
    const end = (settle: () => void) => {
      clearTimeout(timer)
      socket.destroy()
      settle()
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
      received += chunk
      const reply = /^(?:\d{3}-.*\r?\n)*\d{3}(?: .*)?\r?\n/.exec(received)?.[0]
      if (received.length > maxBytes) fail('its reply is too long')
      if (reply === undefined) return
      received = received.slice(reply.length)
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
