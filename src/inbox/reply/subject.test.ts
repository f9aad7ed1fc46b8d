import { expect, test } from 'bun:test'
import { forwardSubject, replySubject } from './subject.ts'

test.each([
  ['Hello', 'Re: Hello'],
  ['Re: Hello', 'Re: Hello'],
  ['RE: Hello', 'Re: Hello'],
  ['re:Hello', 'Re: Hello'],
  ['AW: Hello', 'Re: Hello'],
  ['AW: Re: SV: Antw: Hello', 'Re: Hello'],
  ['Re[2]: Hello', 'Re: Hello'],
  ['RE(3): Hello', 'Re: Hello'],
  ['回复：你好', 'Re: 你好'],
  ['Fwd: Hello', 'Re: Fwd: Hello'],
  ['Re: Fwd: Hello', 'Re: Fwd: Hello'],
  ['Regarding: Hello', 'Re: Regarding: Hello'],
  ['Ref: 12', 'Re: Ref: 12'],
  ['R: the language', 'Re: R: the language'],
  ['Re', 'Re: Re'],
  ['', 'Re:'],
  ['Re:', 'Re:'],
])('a reply to %p has the subject %p', (subject, expected) => {
  expect(replySubject(subject)).toBe(expected)
})

test.each([
  ['Hello', 'Fwd: Hello'],
  ['Fwd: Hello', 'Fwd: Hello'],
  ['FW: WG: Hello', 'Fwd: Hello'],
  ['Re: Hello', 'Fwd: Re: Hello'],
  ['Fwd: Re: Hello', 'Fwd: Re: Hello'],
  ['', 'Fwd:'],
])('a forward of %p has the subject %p', (subject, expected) => {
  expect(forwardSubject(subject)).toBe(expected)
})

test('a longest subject stays within the limit, in whole characters', () => {
  for (const prefixed of [replySubject, forwardSubject]) {
    const subject = prefixed('😀'.repeat(499))
    expect(subject.length).toBeLessThanOrEqual(998)
    expect(subject.isWellFormed()).toBe(true)
  }
  const started = performance.now()
  replySubject('re:'.repeat(332))
  replySubject(`re${' '.repeat(990)}`)
  expect(performance.now() - started).toBeLessThan(50)
})
