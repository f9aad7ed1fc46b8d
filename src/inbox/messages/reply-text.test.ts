import { expect, test } from 'bun:test'
import { replyTextOf } from './reply-text.ts'

const answers: Readonly<Record<string, string>> = {
  'an attribution line': 'Yes.\n\nOn Mon, 3 Jan 2022 at 10:00, Bob <b@x.test> wrote:\n> hi\n',
  'an attribution over two lines': 'Yes.\n\nOn Mon, 3 Jan 2022 at 10:00, Bob Somebody <b@x.test>\nwrote:\n> hi\n',
  'a German one': 'Yes.\n\nAm 03.01.2022 um 10:00 schrieb Bob <b@x.test>:\n> hi',
  'an original message line': 'Yes.\n\n-----Original Message-----\nFrom: Bob\nhi',
  'a header block': 'Yes.\n\nFrom: Bob <b@x.test>\nSent: Monday\nTo: me\n\nhi',
  'quoted lines alone': '> hi\nYes.\n> there',
  'a signature': 'Yes.\n-- \nAlice\n+1 555',
  'a telephone signature': 'Yes.\n\nSent from my iPhone',
}

for (const [name, text] of Object.entries(answers))
  test(`keeps the new text before ${name}`, () => expect(replyTextOf(text)).toBe('Yes.'))

test('keeps text that only looks a little like a quotation', () => {
  const text = 'On Monday we meet.\nFrom: here on it is easy.\nShe wrote: yes'
  expect(replyTextOf(text)).toBe(text)
})

test('stays quick on texts made to be slow', () => {
  const started = performance.now()
  for (const slow of [
    '\n'.repeat(200_000),
    'On '.repeat(80_000),
    'On a\n'.repeat(50_000),
    `${'a '.repeat(140)}\n`.repeat(900),
  ])
    replyTextOf(slow)
  expect(performance.now() - started).toBeLessThan(1000)
})
