import { expect, test } from 'bun:test'
import { newTemplateCache } from './template-cache.ts'

test('makes a thing once, forgets the longest unused first, and keeps nothing that is too long or failed', () => {
  const made: string[] = []
  const keep = newTemplateCache<object>(10)
  const get = (text: string) => keep(text, () => ({ made: made.push(text) }))
  get('aaaa')
  get('bbbb')
  expect(get('aaaa')).toBe(get('aaaa'))
  get('cccc')
  expect(made).toEqual(['aaaa', 'bbbb', 'cccc'])
  get('aaaa')
  get('bbbb')
  expect(made).toEqual(['aaaa', 'bbbb', 'cccc', 'bbbb'])
  get('d'.repeat(11))
  get('d'.repeat(11))
  expect(made.slice(4)).toEqual(['d'.repeat(11), 'd'.repeat(11)])
  expect(() =>
    keep('e', () => {
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(get('e')).toEqual({ made: 7 })
})
