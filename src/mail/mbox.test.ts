import { expect, test } from 'bun:test'
import type { Instant } from '../base/clock.ts'
import { mboxrd } from './mbox.ts'

const receivedAt = '2026-01-03 08:05:09.123456' as Instant

async function encode(message: Buffer | string, size = 1 << 20, mailFrom = 'ann@a.test'): Promise<string> {
  const bytes = Buffer.from(message as string, typeof message === 'string' ? 'latin1' : undefined)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const all = await Array.fromAsync(mboxrd(chunks(), { mailFrom, receivedAt }))
  return Buffer.concat(all).toString('latin1')
}

const separator = 'From ann@a.test Sat Jan  3 08:05:09 2026\n'

test('quotes every line that could be taken for a separator, and no other', async () => {
  const message =
    'From: a\r\nSubject: b\r\n\r\nFrom here\r\n>From there\r\n>>From x\r\nfrom y\r\n From z\r\nTo From w\r\n'
  expect(await encode(message)).toBe(
    `${separator}From: a\nSubject: b\n\n>From here\n>>From there\n>>>From x\nfrom y\n From z\nTo From w\n\n`,
  )
})

test('writes a valid separator for the null reverse-path and for one with spaces', async () => {
  expect(await encode('A: b\r\n', 99, '')).toStartWith('From MAILER-DAEMON Sat Jan  3 08:05:09 2026\nA: b\n')
  expect(await encode('A: b\r\n', 99, '"a b\r\n"@a.test')).toStartWith('From "a_b_"@a.test Sat')
})

test('ends the last line of a message, and keeps lone CRs and bytes of any value', async () => {
  expect(await encode('A: b')).toBe(`${separator}A: b\n\n`)
  expect(await encode('a\rFrom b\r\r\n\xff\x00\x85From c')).toBe(`${separator}a\rFrom b\r\n\xff\x00\x85From c\n\n`)
})

test('writes the same however the message is split into chunks', async () => {
  const long = 'x'.repeat(70_000)
  const message = `From: a\r\n\r\n>From b\r\n${long}From c\r\n${long}\rFrom d\r\nFrom e\r\n>>From f`
  const whole = await encode(message)
  expect(whole).toContain(`\n>>From b\n${long}From c\n${long}\rFrom d\n>From e\n>>>From f\n\n`)
  for (const size of [999, 1000, 65_536, 70_001]) expect(await encode(message, size)).toBe(whole)
  const short = 'From: a\r\n\r\n>From b\r\n\rFrom d\r\nFrom e\r\n>>From f\r'
  for (const size of [1, 2, 3, 7]) expect(await encode(short, size)).toBe(await encode(short))
})
