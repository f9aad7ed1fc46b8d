import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { readBody } from '../../../src/api/request-body.ts'
import { Refusal } from '../../../src/base/refusal.ts'

/** What all bodies under way have taken, in bytes; what is refused or read gives its own back. */
let taken = 0
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
            taken += bytes
          },
          300,
        )
        return new Response(String(body.length))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return Response.json({ code: error.code, message: error.message }, { status: error.status })
      } finally {
        taken -= own
      }
    },
  })
})
afterAll(() => server.stop(true))

/** Sends the head, then a piece every 20 ms until there is an answer; gives it. */
async function trickle(head: string, piece: string): Promise<string> {
  const socket = connect(server.port ?? 0, '127.0.0.1')
  let answer = ''
  socket.on('data', bytes => {
    answer += bytes
  })
  socket.on('error', () => undefined)
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
  for (const end = Date.now() + 8000; answer === '' && Date.now() < end; await Bun.sleep(20)) socket.write(piece)
  // What comes after the answer may take no room that nobody gives back.
  for (let i = 0; i < 5; i++, await Bun.sleep(20)) socket.write(piece)
  socket.destroy()
  return answer
}

const late = 'The request body did not arrive within 0.3 seconds.'

for (const [kind, head, piece] of [
  ['a small body', 'Content-Length: 1000', 'a'],
  ['a large body', 'Content-Length: 10000000', 'a'],
  ['a body in chunks', 'Transfer-Encoding: chunked', '1\r\na\r\n'],
  ['a body of which nothing comes', 'Content-Length: 10000000', ''],
] as const)
  test(`${kind} that trickles in is refused when its time is over, and takes no more room`, async () => {
    const answer = await trickle(head, piece)
    expect(answer).toStartWith('HTTP/1.1 400 ')
    expect(answer).toContain(late)
    expect(taken).toBe(0)
  })

test('of a large body only what has come takes room', async () => {
  const socket = connect(server.port ?? 0, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n${'a'.repeat(1000)}`)
  for (const end = Date.now() + 250; taken === 0 && Date.now() < end; ) await Bun.sleep(5)
  expect(taken).toBe(1000)
  socket.destroy()
})

test('a body of any size comes whole', async () => {
  for (const size of [0, 1, 262_144, 262_145, 5_000_000]) {
    const body = new Uint8Array(size).fill(97)
    expect(await (await fetch(server.url, { method: 'POST', body })).text()).toBe(String(size))
  }
})
