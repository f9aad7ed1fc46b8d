import { expect, test } from 'bun:test'
import { addRecipients, readRecipient, readRecipients } from './recipients.ts'

const texts = (input: string) => readRecipients(input).map(recipient => recipient.text)

test('a pasted list is taken apart at commas, semicolons and line ends', () => {
  expect(texts('a@x.example, b@x.example;c@x.example\r\nd@x.example\n')).toEqual([
    'a@x.example',
    'b@x.example',
    'c@x.example',
    'd@x.example',
  ])
  expect(texts('a@x.example b@x.example\tc@x.example')).toEqual(['a@x.example', 'b@x.example', 'c@x.example'])
  expect(texts(' , ;\n ')).toEqual([])
})

test('a separator in a quoted name, in brackets or in a comment separates nothing', () => {
  expect(texts('"Ann, Boss" <ann@x.example>, Ben (sales; west) <ben@x.example>')).toEqual([
    '"Ann, Boss" <ann@x.example>',
    '"Ben (sales; west)" <ben@x.example>',
  ])
  expect(texts('"say \\"hi, all\\"" <a@x.example>')).toEqual(['"say \\"hi, all\\"" <a@x.example>'])
})

test('an open quote or bracket takes no more than its line with it', () => {
  expect(texts('Ann <ann@x.example\nben@x.example')).toEqual(['Ann <ann@x.example', 'ben@x.example'])
})

test('names and addresses of every script are read, and what can be none is kept and said', () => {
  expect(readRecipient('Zoë Müller <zoe@münchen.example>')).toEqual({
    text: 'Zoë Müller <zoe@münchen.example>',
    address: 'zoe@münchen.example',
    name: 'Zoë Müller',
    isValid: true,
  })
  expect(readRecipient('mailto:a@x.example').text).toBe('a@x.example')
  const wrong = [
    'ann',
    'ann@',
    '@x.example',
    'a b@x.example',
    'a@x',
    'a@-x.example',
    'a@x..example',
    '<a@x.example',
    'a@b@x .example',
  ]
  expect(wrong.filter(text => readRecipient(text).isValid)).toEqual([])
})

test('nobody is added twice', () => {
  const before = readRecipients('a@x.example')
  expect(addRecipients(before, readRecipients('A@X.example, b@x.example, b@x.example')).map(r => r.address)).toEqual([
    'a@x.example',
    'b@x.example',
  ])
})
