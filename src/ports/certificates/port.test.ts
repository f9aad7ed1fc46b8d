import { expect, test } from 'bun:test'
import { type Certificate, certificateFor, covers } from './port.ts'

function certificate(...names: string[]): Certificate {
  return { names, chain: '', privateKey: '', notBefore: new Date(0), notAfter: new Date(1) }
}

test('a wildcard stands for one whole label', () => {
  const wildcard = certificate('*.a.test')
  expect(['x.a.test', 'X.A.test', 'a.test', 'y.x.a.test'].map(name => covers(wildcard, name))).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('a client gets the certificate of the name that it asks for, else the first one', () => {
  const [first, second] = [certificate('a.test'), certificate('b.test')]
  expect(certificateFor([first, second], 'b.test')).toBe(second)
  expect(certificateFor([first, second], 'c.test')).toBe(first)
  expect(certificateFor([], 'c.test')).toBeUndefined()
})
