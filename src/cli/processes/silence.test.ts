import { expect, test } from 'bun:test'
import { addSilence, type Look } from './silence.ts'

const lookMs = 5000
const silent: Look = { isHeard: false, elapsedMs: lookMs, delayedMs: 0 }

function silenceAfter(looks: readonly Look[]): number {
  return looks.reduce((silentMs, look) => addSilence(silentMs, look, lookMs), 0)
}

test('adds up while nothing comes, and ends with the first sign of life', () => {
  expect(silenceAfter([silent, silent, silent])).toBe(15_000)
  expect(silenceAfter([silent, silent, { ...silent, isHeard: true }, silent])).toBe(5000)
})

test('a machine that was suspended counts as one look', () => {
  expect(silenceAfter([{ ...silent, elapsedMs: 3_600_000 }])).toBe(lookMs)
})

test('minutes in which a worker hardly gets a core count as the time that it ran', () => {
  const starved = Array.from({ length: 60 }, (): Look => ({ isHeard: false, elapsedMs: lookMs, delayedMs: 4900 }))
  expect(silenceAfter(starved)).toBe(6000)
  // Its wait began before the look.
  expect(silenceAfter([{ ...silent, delayedMs: 7000 }])).toBe(0)
})
