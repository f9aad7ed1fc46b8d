import { afterEach, expect, test } from 'bun:test'
import { readSmarthostUrl } from '../../../src/ports/provider/smarthost/address.ts'
import { createSessionPool, type SessionPool } from '../../../src/ports/provider/smarthost/connection-pool.ts'
import { type ScriptedRelay, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'
import { submission } from './contract.ts'

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const closeable of open.splice(0).reverse()) await closeable.close()
})

/** A relay that refuses connections beyond so many at once, as Postfix, Exim and Exchange do. */
async function relayAllowing(connections: number): Promise<ScriptedRelay> {
  const relay: ScriptedRelay = await startScriptedRelay({
    banner: () =>
      relay.openConnections() > connections ? '421 4.7.0 too many connections close' : '220 relay.test ESMTP',
    dotAfterMs: 20,
  })
  open.push(relay)
  return relay
}

function poolAt(relay: ScriptedRelay, maxSessions: number, growMs: number): SessionPool {
  const pool = createSessionPool({
    address: readSmarthostUrl(relay.url),
    ...{ hostname: 'mail.test', readyMs: 5000, silenceMs: 5000, notify: null },
    ...{ maxSessions, growMs },
  })
  open.push(pool)
  return pool
}

const soon = () => AbortSignal.timeout(2000)

test('a relay that allows fewer connections than there may be gets all messages over those', async () => {
  const relay = await relayAllowing(3)
  const provider = testSmarthost(relay.url, { connections: 10 })
  open.push(provider)
  const outcomes = await Promise.all(Array.from({ length: 40 }, () => provider.submit(submission())))
  expect(outcomes.flat().filter(({ kind }) => kind !== 'accepted')).toEqual([])
  expect(relay.accepted.length).toBe(40)
  expect(new Set(relay.accepted.map(({ connection }) => connection)).size).toBe(3)
  // Each connection too many is refused once, and not tried again at once.
  expect(relay.connections()).toBe(10)
})

test('a relay that allows no further connection is healthy while it serves others', async () => {
  const relay = await relayAllowing(1)
  relay.setScript({ ...relay.script(), dotAfterMs: 300 })
  const provider = testSmarthost(relay.url, { connections: 1 })
  open.push(provider)
  const submitting = provider.submit(submission())
  await until(() => relay.commands.some(command => command.includes('DATA')), { what: 'the connection is in use' })
  expect(await provider.checkHealth()).toBeNull()
  expect((await submitting)[0]?.kind).toBe('accepted')
  // Nothing is in use now, so that a refusal says that no message could be submitted.
  expect(await provider.checkHealth()).toBe('banner: 421 too many connections')
})

test('a relay that refuses each connection is a route error for each message', async () => {
  const relay = await relayAllowing(0)
  const provider = testSmarthost(relay.url, { connections: 5 })
  open.push(provider)
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => provider.submit(submission())))
  expect(outcomes.flat().map(({ kind, reply }) => [kind, reply.phase, reply.code])).toEqual(
    Array.from({ length: 8 }, () => ['route-error', 'banner', 421]),
  )
})

test('a permanent refusal of a further connection is an error at once', async () => {
  const relay = await relayAllowing(9)
  const pool = poolAt(relay, 2, 60_000)
  await pool.acquire(soon(), false)
  relay.setScript({ banner: '554 5.7.1 go away close' })
  await expect(pool.acquire(soon(), false)).rejects.toMatchObject({ reply: { phase: 'banner', code: 554 } })
})

test('a connection more is tried again after a while, and used once the relay allows it', async () => {
  const relay = await relayAllowing(1)
  const pool = poolAt(relay, 3, 200)
  const first = await pool.acquire(soon(), false)
  const second = pool.acquire(AbortSignal.timeout(5000), false)
  const third = pool.acquire(AbortSignal.timeout(5000), false)
  await until(() => relay.connections() === 3, { what: 'both others were refused' })
  relay.setScript({})
  expect((await second).session).not.toBe(first.session)
  expect((await third).session).not.toBe(first.session)
  expect(relay.openConnections()).toBe(3)
})

test('who waits for the connection of another gives up when its signal fires', async () => {
  const relay = await relayAllowing(1)
  const pool = poolAt(relay, 2, 60_000)
  const first = await pool.acquire(soon(), false)
  await expect(pool.acquire(AbortSignal.timeout(200), false)).rejects.toMatchObject({
    reply: { phase: 'connect', code: null },
  })
  pool.release(first.session)
  expect((await pool.acquire(soon(), false)).session).toBe(first.session)
})
