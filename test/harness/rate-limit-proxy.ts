import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestAuthority } from './certificates.ts'
import type { Pebble } from './pebble.ts'

/** A proxy for Pebble, which has no rate limits: it refuses new orders until `relent` is called (RFC 8555 §6.6). */
export function startRateLimitProxy(
  pebble: Pebble,
  retryAfter: string,
): Pick<Pebble, 'directory' | 'caFile'> & { relent(): void; stop(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-limit-'))
  const root = createTestAuthority()
  const { chain, key } = root.issue(['localhost'])
  root.close()
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, root.root)
  let isLimiting = true
  let orderPath = ''
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: chain, key },
    async fetch(request) {
      const { pathname } = new URL(request.url)
      // Responses contain the host of the request, and signed requests contain it too.
      const answer = await fetch(new URL(pathname, pebble.directory), {
        method: request.method,
        headers: { 'content-type': 'application/jose+json', host: request.headers.get('host') ?? '' },
        ...(request.method === 'POST' && { body: await request.text() }),
        tls: { rejectUnauthorized: false },
      })
      const text = await answer.text()
      if (text.includes('"newOrder"')) orderPath = new URL(JSON.parse(text).newOrder).pathname
      const headers = new Headers(answer.headers)
      for (const name of ['content-length', 'transfer-encoding', 'content-encoding']) headers.delete(name)
      if (!isLimiting || pathname !== orderPath) return new Response(text, { status: answer.status, headers })
      headers.set('retry-after', retryAfter)
      headers.set('content-type', 'application/problem+json')
      const problem = { type: 'urn:ietf:params:acme:error:rateLimited', detail: 'too many of them' }
      return new Response(JSON.stringify(problem), { status: 429, headers })
    },
  })
  return {
    directory: `https://localhost:${server.port}${new URL(pebble.directory).pathname}`,
    caFile,
    relent: () => {
      isLimiting = false
    },
    stop: async () => {
      await server.stop(true)
      rmSync(folder, { recursive: true })
    },
  }
}
