import { expect, test } from 'bun:test'
import { ApiError, ServerAwayError } from '../../../api/errors.ts'
import { createOnceSender, type SendAttempt } from './send-attempt.ts'

const start = Date.parse('2026-01-31T08:00:00Z')
const away = new ServerAwayError('away')
const refusal = (param: string) =>
  new ApiError(
    400,
    { error: { code: 'invalid_request', message: 'no', requirement: 'fix_request', retryable: false, param } },
    null,
  )

/** A sender whose posts fail with these first. */
function openSender(failures: Error[] = []) {
  let now = start
  const attempts: SendAttempt[] = []
  const sender = createOnceSender(async () => now)
  const post = async (attempt: SendAttempt) => {
    attempts.push({ key: attempt.key, scheduledAt: attempt.scheduledAt })
    const failure = failures.shift()
    if (failure) throw failure
    return 'eml_1'
  }
  return {
    attempts,
    send: (content: object, at: string | null = null) => sender.send(content, at, post),
    wait: (ms: number) => {
      now += ms
    },
  }
}

test('goes out ten seconds ahead by the clock of the server, or when it is scheduled', async () => {
  const { send, attempts } = openSender()
  expect(await send({ text: 'a' })).toBe('eml_1')
  await send({ text: 'b' }, '2026-02-01T08:00:00.000Z')
  expect(attempts.map(({ scheduledAt }) => scheduledAt)).toEqual([
    '2026-01-31T08:00:10.000Z',
    '2026-02-01T08:00:00.000Z',
  ])
  expect(attempts[0]?.key).not.toBe(attempts[1]?.key)
})

test('tried again after no answer it is the same send, with the same time', async () => {
  const { send, attempts, wait } = openSender([away, away])
  await expect(send({ text: 'a' })).rejects.toThrow('away')
  wait(3_000)
  await expect(send({ text: 'a' })).rejects.toThrow('away')
  await send({ text: 'a' })
  expect(new Set(attempts.map(attempt => JSON.stringify(attempt))).size).toBe(1)
})

test('a time that passed while nobody answered is chosen anew, under another key', async () => {
  const { send, attempts, wait } = openSender([away, refusal('scheduled_at')])
  await expect(send({ text: 'a' })).rejects.toThrow('away')
  wait(60_000)
  expect(await send({ text: 'a' })).toBe('eml_1')
  expect(attempts.map(({ scheduledAt }) => scheduledAt.slice(11, 19))).toEqual(['08:00:10', '08:00:10', '08:01:10'])
  expect(attempts[2]?.key).not.toBe(attempts[0]?.key)
})

test('after a refusal, or with other content, it is another send', async () => {
  const { send, attempts } = openSender([refusal('to[0]'), away])
  await expect(send({ text: 'a' })).rejects.toThrow('no')
  await expect(send({ text: 'a' })).rejects.toThrow('away')
  await send({ text: 'b' })
  expect(new Set(attempts.map(({ key }) => key)).size).toBe(3)
})
