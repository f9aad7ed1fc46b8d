import { expect, test } from 'bun:test'
import { FairSlots } from './fair-slots.ts'

/** Acquires in the background, and notes who got a slot. */
function acquirer(slots: FairSlots) {
  const got: string[] = []
  const releases: (() => void)[] = []
  return {
    got,
    releases,
    acquire: (flow: string) =>
      void slots.acquire(flow).then(release => {
        got.push(flow)
        releases.push(release)
      }),
  }
}

test('gives slots round robin, so that one flow with many does not hold up the others', async () => {
  const { got, releases, acquire } = acquirer(new FairSlots(1, 10))
  for (const flow of ['a', 'a', 'a', 'b', 'c']) acquire(flow)
  for (let i = 0; i < 5; i++) {
    await Bun.sleep(0)
    releases.shift()?.()
  }
  // The first two of `a` were there before the others.
  expect(got).toEqual(['a', 'a', 'b', 'c', 'a'])
})

test('leaves slots to others that one flow may not take', async () => {
  const { got, releases, acquire } = acquirer(new FairSlots(3, 2))
  for (const flow of ['a', 'a', 'a', 'b']) acquire(flow)
  await Bun.sleep(0)
  expect(got.toSorted()).toEqual(['a', 'a', 'b'])
  releases[got.indexOf('a')]?.()
  await Bun.sleep(0)
  expect(got.toSorted()).toEqual(['a', 'a', 'a', 'b'])
})

test('a slot that is given back twice is free once', async () => {
  const { got, releases, acquire } = acquirer(new FairSlots(1, 1))
  for (const flow of ['a', 'b', 'c']) acquire(flow)
  await Bun.sleep(0)
  releases[0]?.()
  releases[0]?.()
  await Bun.sleep(0)
  expect(got).toEqual(['a', 'b'])
})
