import type { Socket } from 'node:net'
import { type ClientEndpoint, readProxyHeader } from './proxy-header.ts'

/** What a load balancer said of a connection, or why it is not taken; `ended`: it closed before it said anything. */
export type ProxyHeaderResult =
  | { readonly kind: 'client'; readonly client: ClientEndpoint }
  | { readonly kind: 'own' }
  | { readonly kind: 'refused'; readonly why: 'malformed' | 'late' | 'ended' }

/**
 * Waits for the header of the PROXY protocol that this connection has to begin with, and takes it off: what follows it is
 * left to be read. Where it is refused the socket is destroyed without a word, as the protocol asks. Never rejects.
 */
export function awaitProxyHeader(socket: Socket, timeoutMs: number): Promise<ProxyHeaderResult> {
  return new Promise(resolve => {
    let heard: Buffer = Buffer.alloc(0)
    const conclude = (introduction: ProxyHeaderResult) => {
      clearTimeout(timer)
      socket.off('data', listen).off('end', end).off('close', end).off('error', end)
      socket.pause()
      if (introduction.kind === 'refused') {
        socket.on('error', () => undefined)
        socket.destroy()
      }
      resolve(introduction)
    }
    const listen = (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk])
      const header = readProxyHeader(heard)
      if (header.kind === 'incomplete') return
      if (header.kind === 'malformed') {
        conclude({ kind: 'refused', why: 'malformed' })
        return
      }
      conclude(header.kind === 'client' ? { kind: 'client', client: header.client } : { kind: 'own' })
      if (heard.length > header.length) socket.unshift(heard.subarray(header.length))
    }
    const end = () => conclude({ kind: 'refused', why: heard.length === 0 ? 'ended' : 'malformed' })
    const timer = setTimeout(() => conclude({ kind: 'refused', why: 'late' }), timeoutMs)
    socket.on('data', listen).on('end', end).on('close', end).on('error', end)
  })
}
