import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import type { Endpoint } from '../../../base/config/config.ts'
import { type DnsQuery, type DnsResponse, decodeResponse } from './wire-format.ts'

/** What one server answered, or why there is no answer. */
export type ExchangeResult =
  | { readonly kind: 'answered'; readonly response: DnsResponse }
  | { readonly kind: 'unanswered'; readonly why: string }
  /** Too many responses that do not match our query: somebody may be spoofing. */
  | { readonly kind: 'spoofed' }

/** Responses that do not match before the exchange is given up (RFC 5452 §9.3). */
const maxMismatches = 3

/**
 * Sends a query over UDP, from a socket of its own (so from a port that the kernel picks at random) that receives from
 * this server only. The query is sent a second time after half the timeout: packets get lost.
 * Never rejects.
 */
export function exchangeOverUdp(server: Endpoint, query: DnsQuery, timeoutMs: number): Promise<ExchangeResult> {
  return new Promise(resolve => {
    const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4')
    let mismatches = 0
    let isOver = false
    const send = () => socket.send(query.bytes, () => {})
    let resend: Timer | undefined
    const end = (result: ExchangeResult) => {
      isOver = true
      clearTimeout(resend)
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => {})
      socket.close()
      resolve(result)
    }
    const timer = setTimeout(() => end({ kind: 'unanswered', why: 'timed out' }), timeoutMs)
    socket.on('error', error => end({ kind: 'unanswered', why: codeOf(error) }))
    socket.on('message', message => {
      const response = decodeResponse(message, query)
      if (response === 'unreadable') end({ kind: 'unanswered', why: 'unreadable response' })
      else if (response) end({ kind: 'answered', response })
      else if (++mismatches === maxMismatches) end({ kind: 'spoofed' })
    })
    // Without a route to the server its callback gets an error, and a socket that is not connected throws when it sends.
    socket.connect(server.port, server.host, (error?: Error) => {
      if (isOver) return
      if (error) return end({ kind: 'unanswered', why: codeOf(error) })
      resend = setTimeout(send, timeoutMs / 2)
      send()
    })
  })
}

/** Sends a query over TCP, on a connection of its own (RFC 7766). Never rejects. */
export function exchangeOverTcp(server: Endpoint, query: DnsQuery, timeoutMs: number): Promise<ExchangeResult> {
  return new Promise(resolve => {
    const socket = connect({ host: server.host, port: server.port })
    let received: Buffer = Buffer.alloc(0)
    const end = (result: ExchangeResult) => {
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => {})
      socket.destroy()
      resolve(result)
    }
    const timer = setTimeout(() => end({ kind: 'unanswered', why: 'timed out' }), timeoutMs)
    socket.on('error', error => end({ kind: 'unanswered', why: codeOf(error) }))
    socket.on('close', () => end({ kind: 'unanswered', why: 'connection closed' }))
    socket.on('connect', () => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(query.bytes.length)
      socket.write(Buffer.concat([length, query.bytes]))
    })
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      if (received.length < 2 || received.length < received.readUInt16BE(0) + 2) return
      const response = decodeResponse(received.subarray(2, received.readUInt16BE(0) + 2), query)
      if (response === undefined || response === 'unreadable') end({ kind: 'unanswered', why: 'unreadable response' })
      else end({ kind: 'answered', response })
    })
  })
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
