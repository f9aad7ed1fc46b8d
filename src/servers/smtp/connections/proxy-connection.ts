import type { Socket } from 'node:net'
import { type ClientEndpoint, readProxyHeader } from './proxy-header.ts'

/** The client that a load balancer reports for a connection, or why it is refused; `ended`: closed before any byte came. */
export type ProxyHeaderResult =
  | { readonly kind: 'client'; readonly client: ClientEndpoint }
  | { readonly kind: 'own' }
  | { readonly kind: 'refused'; readonly why: 'malformed' | 'late' | 'ended' }

/**
 * Reads the header of the PROXY protocol that this connection has to begin with; the bytes after it stay unread. A refused
 * connection is destroyed without a reply, as the protocol requires. Never rejects.
 */
export function awaitProxyHeader(socket: Socket, timeoutMs: number): Promise<ProxyHeaderResult> {
  return new Promise(resolve => {
    let received: Buffer = Buffer.alloc(0)
    const conclude = (result: ProxyHeaderResult) => {
      clearTimeout(timer)
      socket.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onEnd)
      socket.pause()
      if (result.kind === 'refused') {
        socket.on('error', () => undefined)
        socket.destroy()
      }
      resolve(result)
    }
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const header = readProxyHeader(received)
      if (header.kind === 'incomplete') return
      if (header.kind === 'malformed') {
        conclude({ kind: 'refused', why: 'malformed' })
        return
      }
      conclude(header.kind === 'client' ? { kind: 'client', client: header.client } : { kind: 'own' })
      if (received.length > header.length) socket.unshift(received.subarray(header.length))
    }
    const onEnd = () => conclude({ kind: 'refused', why: received.length === 0 ? 'ended' : 'malformed' })
    const timer = setTimeout(() => conclude({ kind: 'refused', why: 'late' }), timeoutMs)
    socket.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onEnd)
  })
}
