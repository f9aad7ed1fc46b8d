import { expect, test } from 'bun:test'
import { failoverHosts } from './hosts.ts'

function hostsAt() {
  let now = 1
  const next = failoverHosts(['a', 'b', 'c'], () => now)
  return {
    order: () => next().map(host => host.value),
    next,
    after(ms: number) {
      now += ms
    },
  }
}

test('hosts come in the given order as long as none has failed', () => {
  const { order } = hostsAt()
  expect([order(), order()]).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ])
})

test('a host that failed comes last, is tried again by one caller after a while, and gets its place back when it works', () => {
  const { next, order, after } = hostsAt()
  next()[0]?.failed()
  expect(order()).toEqual(['b', 'c', 'a'])
  after(15_000)
  const probing = next()
  expect(probing.map(host => host.value)).toEqual(['a', 'b', 'c'])
  expect(order()).toEqual(['b', 'c', 'a'])
  probing[0]?.succeeded()
  expect(order()).toEqual(['a', 'b', 'c'])
})

test('a host that keeps failing is tried at growing intervals, up to five minutes', () => {
  const { next, after } = hostsAt()
  next()[0]?.failed()
  const waits = Array.from({ length: 7 }, () => {
    for (let waited = 0; ; waited += 5000) {
      const [first] = next()
      if (first?.value === 'a') {
        first.failed()
        return waited
      }
      after(5000)
    }
  })
  expect(waits).toEqual([15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000])
})

test('when all have failed, all are tried in order', () => {
  const { next, order } = hostsAt()
  for (const host of next()) host.failed()
  expect(order()).toEqual(['a', 'b', 'c'])
})
