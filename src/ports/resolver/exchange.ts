import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import type { Endpoint } from '../../base/config/config.ts'
import { type DnsQuery, type DnsResponse, decodeResponse } from './wire-format.ts'

/** What one server said, or why it said nothing. */
export type ExchangeResult =
  | { readonly kind: 'answered'; readonly response: DnsResponse }
  | { readonly kind: 'silent'; readonly why: string }
  /** Too many answers that were not to our question: somebody is guessing. */
  | { readonly kind: 'doubtful' }

/** Wrong answers on one port before we stop believing that port (RFC 5452 §9.3). */
const maxWrongAnswers = 3

/**
 * Asks over UDP, from a socket of its own (so from a port that the kernel picks at random) that takes answers from
 * this server only. The question is sent a second time when half the time has gone: packets get lost.
 */
export function exchangeOverUdp(server: Endpoint, query: DnsQuery, timeoutMs: number): Promise<ExchangeResult> {
  return new Promise(resolve => {
    const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4')
    let wrongAnswers = 0
    const send = () => socket.send(query.bytes, () => {})
    const again = setTimeout(send, timeoutMs / 2)
    const end = (exchanged: ExchangeResult) => {
      clearTimeout(again)
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => {})
      socket.close()
      resolve(exchanged)
    }
    const timer = setTimeout(() => end({ kind: 'silent', why: 'timed out' }), timeoutMs)
    socket.on('error', error => end({ kind: 'silent', why: codeOf(error) }))
    socket.on('message', message => {
      const response = decodeResponse(message, query)
      if (response === 'unreadable') end({ kind: 'silent', why: 'unreadable answer' })
      else if (response) end({ kind: 'answered', response })
      else if (++wrongAnswers === maxWrongAnswers) end({ kind: 'doubtful' })
    })
    socket.connect(server.port, server.host, send)
  })
}

/** Asks over TCP, on a connection of its own (RFC 7766). */
export function exchangeOverTcp(server: Endpoint, query: DnsQuery, timeoutMs: number): Promise<ExchangeResult> {
  return new Promise(resolve => {
    const socket = connect({ host: server.host, port: server.port })
    let received: Buffer = Buffer.alloc(0)
    const end = (exchanged: ExchangeResult) => {
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => {})
      socket.destroy()
      resolve(exchanged)
    }
    const timer = setTimeout(() => end({ kind: 'silent', why: 'timed out' }), timeoutMs)
    socket.on('error', error => end({ kind: 'silent', why: codeOf(error) }))
    socket.on('close', () => end({ kind: 'silent', why: 'connection closed' }))
    socket.on('connect', () => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(query.bytes.length)
      socket.write(Buffer.concat([length, query.bytes]))
    })
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      if (received.length < 2 || received.length < received.readUInt16BE(0) + 2) return
      const response = decodeResponse(received.subarray(2, received.readUInt16BE(0) + 2), query)
      if (response === undefined || response === 'unreadable') end({ kind: 'silent', why: 'unreadable answer' })
      else end({ kind: 'answered', response })
    })
  })
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
