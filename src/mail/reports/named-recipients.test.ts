import { describe, expect, test } from 'bun:test'
import { findNamedRecipients, indexOfAddress } from './named-recipients.ts'

const labels = [
  'To',
  'User',
  'Recipient',
  'Recipients',
  'Address',
  'Mailbox',
  'Failed Recipient',
  'Final-Recipient',
  'Invalid address',
  'E-mail address',
  'User name',
  'Rcpt to',
  'Empfänger',
  'Destinatario',
  'Destinataire',
  'получатель',
  '收件人',
  '宛先',
]
const starts = ['to', 'user', 'recipient', 'recipients', 'address', 'mailbox', 'rcpt-to', 'unknown', 'failed', 'e-mail']
const localParts = [...starts, 'from', 'contact', 'help', 'questions', 'assistance', 'sender'].flatMap(start => [
  start,
  `${start}1`,
  `${start}m`,
  `${start}ni`,
  `${start}.x`,
  `${start}-x`,
  `${start}_x`,
  `${start}+x`,
])
const separators = [': ', ':', ' = ', ' ', '：']

describe('finds the whole address', () => {
  for (const localPart of localParts)
    test(`of ${localPart}@, bare and after each label`, () => {
      const address = `${localPart}@dest.example`
      const bare = [`${address}`, `  ${address}`, `- ${address}: user unknown`, `<${address}>`, `1. ${address}`]
      const labelled = labels.flatMap(label => [
        ...separators.map(separator => `${label}${separator}${address}`),
        `${label}: <${address}>`,
        `${label}:<${address}> is unknown`,
      ])
      for (const line of [...bare, ...labelled])
        expect([line, findNamedRecipients(`We could not deliver it.\n\n${line}\n`)]).toEqual([line, [address]])
    })
})

test('takes no label for a part of an address where no space is written after it', () => {
  expect(findNamedRecipients('无法发送到tobias@qq.example\n')).toEqual(['tobias@qq.example'])
})

test('does not find an address inside another one', () => {
  const text = 'atom@dest.example and tom@dest.example.org, then tom@dest.example.'
  expect(indexOfAddress(text, 'tom@dest.example')).toBe(text.lastIndexOf('tom@'))
  expect(indexOfAddress(text, 'om@dest.example')).toBe(-1)
})
