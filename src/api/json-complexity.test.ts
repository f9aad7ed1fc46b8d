import { expect, test } from 'bun:test'
import { measureJson } from './json-complexity.ts'

const most = { depth: 64, values: 1000 }
const outline = (text: string) => measureJson(Buffer.from(text), most)

test('counts levels and values, and none inside texts', () => {
  expect(outline('1')).toEqual({ depth: 0, values: 0 })
  expect(outline('{"a":[1,2,{"b":null}]}')).toEqual({ depth: 3, values: 7 })
  expect(outline('"[[[[,,,,"')).toEqual({ depth: 0, values: 1 })
  expect(outline('["\\"[[[","\\\\",[]]')).toEqual({ depth: 2, values: 6 })
  expect(outline('[[],[],[]]')).toEqual({ depth: 2, values: 6 })
})

test('ends where a limit is passed', () => {
  expect(outline('['.repeat(1_000_000))).toEqual({ depth: 65, values: 65 })
  expect(outline(`[${'1,'.repeat(1_000_000)}1]`)).toEqual({ depth: 1, values: 1001 })
  expect(outline('""'.repeat(1_000_000))).toEqual({ depth: 0, values: 1001 })
})

test('goes through 16 MiB of text in no time', () => {
  for (const filling of ['a', '\\"', '\\\\']) {
    const bytes = Buffer.from(`["${filling.repeat(16_000_000 / filling.length)}"]`)
    measureJson(bytes, most)
    const started = performance.now()
    expect(measureJson(bytes, most)).toEqual({ depth: 1, values: 2 })
    expect(performance.now() - started).toBeLessThan(500)
  }
})
