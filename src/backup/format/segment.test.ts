import { expect, test } from 'bun:test'
import { readSegment, writeSegment } from './segment.ts'

const bytes = [Buffer.from('one'), Buffer.from('two'), Buffer.from('three')]
const parts = [
  { blob: 'blb_a', sha256: 'a', size: 6, chunks: [[0, 3] as const, [1, 3] as const] },
  { blob: 'blb_empty', sha256: 'e', size: 0, chunks: [] },
  { blob: 'blb_b', sha256: 'b', size: 99, chunks: [[7, 5] as const] },
]

test('a segment is read back with its parts and the bytes of each chunk', () => {
  const read = readSegment(writeSegment(parts, bytes))
  expect(read.parts).toEqual(parts)
  expect(read.chunks.map(chunk => [chunk.part.blob, chunk.position, String(chunk.bytes)])).toEqual([
    ['blb_a', 0, 'one'],
    ['blb_a', 1, 'two'],
    ['blb_b', 7, 'three'],
  ])
})

test('a segment with too many or too few bytes is an error', () => {
  const whole = writeSegment(parts, bytes)
  expect(() => readSegment(whole.subarray(0, -1))).toThrow('it lists 11 bytes and has 10')
  expect(() => readSegment(Buffer.concat([whole, Buffer.from('!')]))).toThrow('it lists 11 bytes and has 12')
})
