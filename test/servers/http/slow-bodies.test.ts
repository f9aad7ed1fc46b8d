import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { readBody } from '../../../src/api/request-body.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { until } from '../../harness/until.ts'

/** The bytes that all bodies under way have reserved; a refused or finished body releases its own. */
let reserved = 0
let server: ReturnType<typeof Bun.serve>

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 30,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      let own = 0
      try {
        const body = await readBody(
          request,
          bytes => {
            own += bytes
            reserved += bytes
          },
          300,
        )
        return new Response(String(body.length))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return Response.json({ code: error.code, message: error.message }, { status: error.status })
      } finally {
        reserved -= own
      }
    },
  })
})
afterAll(() => server.stop(true))

/** Sends the header, then a piece every 20 ms until there is a response, and returns it. */
async function trickle(head: string, piece: string): Promise<string> {
  const socket = connect(server.port ?? 0, '127.0.0.1')
  let response = ''
  socket.on('data', bytes => {
    response += bytes
  })
  socket.on('error', () => undefined)
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
  for (const end = Date.now() + 8000; response === '' && Date.now() < end; await Bun.sleep(20)) socket.write(piece)
  // Bytes after the response must not reserve memory that nobody releases.
  for (let i = 0; i < 5; i++, await Bun.sleep(20)) socket.write(piece)
  socket.destroy()
  return response
}

const timeoutMessage = 'The request body did not arrive within 0.3 seconds.'

for (const [kind, head, piece] of [
  ['a small body', 'Content-Length: 1000', 'a'],
  ['a large body', 'Content-Length: 10000000', 'a'],
  ['a body in chunks', 'Transfer-Encoding: chunked', '1\r\na\r\n'],
  ['a body of which nothing comes', 'Content-Length: 10000000', ''],
] as const)
  test(`${kind} that trickles in is refused after its time, and releases its memory`, async () => {
    const response = await trickle(head, piece)
    expect(response).toStartWith('HTTP/1.1 400 ')
    expect(response).toContain(timeoutMessage)
    expect(reserved).toBe(0)
  })

test('a large body reserves memory only for the bytes that have arrived', async () => {
  const socket = connect(server.port ?? 0, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n${'a'.repeat(1000)}`)
  await until(() => reserved > 0, { withinMs: 250 })
  expect(reserved).toBe(1000)
  socket.destroy()
})

test('a body of any size is read whole', async () => {
  for (const size of [0, 1, 262_144, 262_145, 5_000_000]) {
    const body = new Uint8Array(size).fill(97)
    expect(await (await fetch(server.url, { method: 'POST', body })).text()).toBe(String(size))
  }
})
