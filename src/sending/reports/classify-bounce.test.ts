import { describe, expect, test } from 'bun:test'
import { classifyBounce } from './classify-bounce.ts'

const table: readonly (readonly [code: string | null, smtp: number | null, text: string, expected: string])[] = [
  ['5.1.1', 550, 'User unknown', 'permanent recipient at once'],
  ['5.1.2', null, 'No such host', 'permanent recipient at once'],
  ['5.1.3', 501, 'Bad address syntax', 'permanent recipient at once'],
  ['5.1.6', 550, 'Mailbox has moved', 'permanent recipient at once'],
  ['5.1.10', 550, 'RecipientNotFound', 'permanent recipient at once'],
  ['5.2.1', 550, 'User unknown', 'permanent recipient when repeated'],
  ['5.4.1', 550, 'Recipient address rejected: Access denied', 'permanent recipient when repeated'],
  ['5.2.2', 552, 'Mailbox full', 'transient recipient never'],
  ['4.2.2', 452, 'Mailbox full', 'transient recipient never'],
  ['4.1.1', 450, 'User unknown', 'transient recipient never'],
  ['4.4.7', null, 'Delivery time expired', 'transient infrastructure never'],
  ['4.7.1', 451, 'Greylisted, user unknown', 'transient infrastructure never'],
  ['5.1.7', 550, 'Sender unknown: user unknown', 'permanent infrastructure never'],
  ['5.1.8', 550, 'Domain of sender does not exist', 'permanent infrastructure never'],
  ['5.3.4', 552, 'Message too big', 'permanent infrastructure never'],
  ['5.4.6', 554, 'Loop detected', 'permanent infrastructure never'],
  ['5.4.4', null, 'Host or domain name not found. Name service error: Host not found', 'permanent recipient at once'],
  ['5.4.4', null, 'unable to route to host', 'permanent infrastructure never'],
  ['5.6.0', 554, 'Content refused', 'permanent infrastructure never'],
  ['5.7.1', 550, 'no such user here', 'permanent infrastructure never'],
  ['5.7.26', 550, 'Unauthenticated mail', 'permanent infrastructure never'],
  ['5.1.1', 550, 'blocked using zen.spamhaus.example', 'permanent infrastructure never'],
  ['5.1.1', 550, 'mailbox is over quota', 'transient recipient never'],
  ['5.0.0', 550, 'User unknown', 'permanent recipient at once'],
  ['5.5.0', 550, 'Requested action not taken: mailbox unavailable', 'permanent recipient at once'],
  [null, 550, 'No such user', 'permanent recipient at once'],
  [null, 550, 'Empfänger unbekannt', 'permanent recipient at once'],
  [null, 550, '收件人不存在', 'permanent recipient at once'],
  [null, 550, 'sender is on our blacklist', 'permanent infrastructure never'],
  [null, 550, 'rejected', 'undetermined recipient never'],
  [null, 554, 'transaction failed', 'permanent infrastructure never'],
  [null, 450, 'user unknown', 'transient infrastructure never'],
  [null, null, 'host not found, try again', 'transient infrastructure never'],
  [null, null, '', 'undetermined recipient never'],
]

describe('classifies', () => {
  for (const [enhancedCode, smtpCode, text, expected] of table)
    test(`${enhancedCode} ${smtpCode} ${text}`, () => {
      const { type, scope, suppress } = classifyBounce({ enhancedCode, smtpCode, text })
      expect(`${type} ${scope} ${suppress}`).toBe(expected)
    })
})

test('never suppresses for a transient code, nor for one about the sender address, route, content or a policy', () => {
  const texts = ['no such user', 'user unknown', 'mailbox does not exist', 'account disabled', '']
  const codes = Array.from({ length: 8 }, (_, subject) =>
    Array.from({ length: 40 }, (_, detail) => `${subject}.${detail}`),
  )
  const never = [
    ...codes.flat().map(code => `4.${code}`),
    ...(codes[7]?.map(code => `5.${code}`) ?? []),
    '5.1.7',
    '5.1.8',
  ]
  for (const enhancedCode of never)
    for (const text of texts)
      expect([enhancedCode, text, classifyBounce({ enhancedCode, smtpCode: 550, text }).suppress]).toEqual([
        enhancedCode,
        text,
        'never',
      ])
})
