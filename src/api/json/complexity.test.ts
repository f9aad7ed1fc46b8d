import { expect, test } from 'bun:test'
import { measureJson } from './complexity.ts'

const limits = { depth: 64, values: 1000 }
const measure = (text: string) => measureJson(Buffer.from(text), limits)

test('counts levels and values, and none inside strings', () => {
  expect(measure('1')).toEqual({ depth: 0, values: 0 })
  expect(measure('{"a":[1,2,{"b":null}]}')).toEqual({ depth: 3, values: 7 })
  expect(measure('"[[[[,,,,"')).toEqual({ depth: 0, values: 1 })
  expect(measure('["\\"[[[","\\\\",[]]')).toEqual({ depth: 2, values: 6 })
  expect(measure('[[],[],[]]')).toEqual({ depth: 2, values: 6 })
})

test('stops where a limit is exceeded', () => {
  expect(measure('['.repeat(1_000_000))).toEqual({ depth: 65, values: 65 })
  expect(measure(`[${'1,'.repeat(1_000_000)}1]`)).toEqual({ depth: 1, values: 1001 })
  expect(measure('""'.repeat(1_000_000))).toEqual({ depth: 0, values: 1001 })
})

test('measures a string of 16 MiB quickly', () => {
  for (const filling of ['a', '\\"', '\\\\']) {
    const bytes = Buffer.from(`["${filling.repeat(16_000_000 / filling.length)}"]`)
    measureJson(bytes, limits)
    const started = performance.now()
    expect(measureJson(bytes, limits)).toEqual({ depth: 1, values: 2 })
    expect(performance.now() - started).toBeLessThan(500)
  }
})
