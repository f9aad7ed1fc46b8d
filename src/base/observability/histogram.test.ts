import { expect, test } from 'bun:test'
import { Histogram, Registry } from 'prom-client'
import { LabelledHistogram } from './histogram.ts'

const options = {
  name: 'seconds',
  help: 'Seconds.',
  labelNames: ['way', 'step'],
  buckets: [0.0005, 0.25, 1, 120],
} as const

function open(Kind: typeof Histogram) {
  const registry = new Registry()
  const { labelNames, buckets, ...of } = options
  const histogram = new Kind({ ...of, labelNames: [...labelNames], buckets: [...buckets], registers: [registry] })
  return { registry, histogram }
}

test('counts as prom-client does', async () => {
  const [theirs, ours] = [open(Histogram), open(LabelledHistogram)]
  for (const { histogram } of [theirs, ours]) {
    histogram.zero({ way: 'out', step: 'scan' })
    const [scan, file, again] = [
      ['in', 'scan'],
      ['in', 'file'],
      ['in', 'scan'],
    ].map(labels => histogram.labels(...labels))
    for (const value of [0.0005, 0.0004, 0, -1, 0.25, 0.3, 1, 119.9, 120, 121, 0.1 + 0.2]) {
      scan?.observe(value)
      again?.observe(value / 3)
      if (value > 1) file?.observe(value)
    }
    histogram.observe({ way: 'in', step: 'scan' }, 0.7)
    histogram.labels('out', 'scan').observe(2)
    scan?.observe(2)
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => scan?.observe(value)).toThrow(TypeError)
    expect(() => histogram.labels('in')).toThrow()
  }
  expect(await ours.registry.metrics()).toBe(await theirs.registry.metrics())
})
