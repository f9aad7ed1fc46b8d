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
  ['5.4.4', 550, 'Invalid domain', 'permanent recipient at once'],
  ['5.0.0', 501, 'Invalid domain name', 'permanent infrastructure never'],
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
  [null, 550, '<bob@dest.example> is a deactivated mailbox', 'permanent recipient at once'],
  [null, 550, 'No mail box available', 'permanent recipient at once'],
  ['5.0.0', 550, 'Requested action not taken: no mailbox available', 'permanent recipient at once'],
  [null, 550, 'bob is not an active address at this host', 'permanent recipient at once'],
  [null, 553, '<bob@dest.example> User not exist', 'permanent recipient at once'],
  [null, 550, 'bob@dest.example: Account not exists', 'permanent recipient at once'],
  ['4.0.0', null, "The domain dest.example doesn't receive email", 'undetermined recipient when repeated'],
  ['4.0.0', null, 'dest.example does not accept e-mail: null MX', 'undetermined recipient when repeated'],
  ['4.0.0', null, 'No answer from dest.example', 'transient infrastructure never'],
  ['5.1.1', 550, 'unknown user or mailbox full', 'undetermined recipient never'],
  [null, 550, 'Mailbox is full or does not exist', 'undetermined recipient never'],
  ['5.0.0', 554, 'Mailbox unavailable or over quota', 'undetermined recipient never'],
  [null, null, 'no-such-user@dest.example: connection timed out', 'transient infrastructure never'],
  [null, null, '<unknown-user@dest.example>: try again later', 'transient infrastructure never'],
  [
    '5.0.0',
    null,
    'connect to mx.unknown-user.example[192.0.2.1]: Connection refused',
    'transient infrastructure never',
  ],
  [null, 550, 'spam-policy@dest.example: User unknown', 'permanent recipient at once'],
  ['5.1.1', 550, '<spam-blocked@dest.example>... User unknown', 'permanent recipient at once'],
  ['5.1.1', null, 'host antispam.dest.example[192.0.2.1] said: 550 5.1.1 User unknown', 'permanent recipient at once'],
  ['5.1.1', 550, 'User unknown; from=<a@x.test> proto=ESMTP helo=<mx.x.test>', 'permanent recipient at once'],
  ['5.1.1', 550, 'Sender address rejected: Domain not found', 'permanent infrastructure never'],
  ['5.1.1', 550, 'Invalid HELO name', 'permanent infrastructure never'],
  ['5.1.2', 550, 'Your host name does not resolve', 'permanent infrastructure never'],
  ['5.1.3', 501, 'Missing From header', 'permanent infrastructure never'],
  ['5.1.1', 550, 'Authentication required', 'permanent infrastructure never'],
  ['5.1.1', 550, 'Directory harvest attack', 'permanent infrastructure never'],
  [null, 550, 'Recipient unknown: message violates our policies', 'permanent infrastructure never'],
]

describe('classifies', () => {
  for (const [enhancedCode, smtpCode, text, expected] of table)
    test(`${enhancedCode} ${smtpCode} ${text}`, () => {
      const { type, scope, suppress } = classifyBounce({ enhancedCode, smtpCode, text })
      expect(`${type} ${scope} ${suppress}`).toBe(expected)
    })
})

/** Reasons of the sender's side, as lines of a report that ends in `User unknown`. */
const reasons = [
  '<<< 550 5.7.1 SPF check failed',
  '<<< 554 Rejected by policy',
  '<<< 550-Message refused\n<<< 550 for reasons of security policy',
  '<<< 553 Domain of sender address hello@shop.example does not exist',
  '<<< 550 5.1.8 hello@shop.example: sender address rejected',
  '<<< 550 hello@shop.example is not welcome here',
  '<<< 550 5.1.1 shop.example writes too often',
  '<<< 550 mx.ours.example may not relay here',
  '<<< 550 Reverse DNS of your host is missing',
  '<<< 530 Authentication required',
  '<<< 550 You must authenticate first',
  '<<< 550 Missing Date header',
  '<<< 554 5.6.0 Two From: headers',
  '<<< 550 Dictionary attack suspected',
  '<<< 550 Harvest attack',
  'The message was rejected due to company policy.',
  'The sender address\nwas rejected.',
  'SMTP error from remote mail server after MAIL FROM:<hello@shop.example>',
  'The sender was not authenticated.',
  'DMARC of shop.example does not allow it.',
  '550-Verification failed for <hello@shop.example>\n550 Sender verify failed',
  'Your host is blocked here.',
]

/** What reports say of recipients that do not exist, and no reason of the sender's side. */
const remarks = [
  '',
  '<<< 550 5.1.1 <spam@dest.example>... User unknown',
  '<<< 421 4.7.0 Too many errors on this connection',
  '<<< 503 5.5.1 Need RCPT (recipient)',
  '>>> MAIL From:<hello@shop.example> SIZE=2182',
  'The original message was received from mx.ours.example [192.0.2.10]',
  'Sender Address: hello@shop.example',
  'Authentication-Results: spf=fail; dkim=fail;\n dmarc=fail',
  'Received-SPF: Fail (policy)',
  'DKIM-Signature: v=1; a=rsa-sha256; d=shop.example',
  'Please inform the sender. The recipient is unknown here.',
  '(reason: 550 5.1.1 <policy@dest.example>... User unknown)',
  'host blocklist.dest.example[192.0.2.1] said: 550 5.1.1 No such user',
  '550 5.1.1 User unknown; from=<hello@shop.example> helo=<mx.ours.example>',
  'Include all headers of this message when you ask for help.',
]

const senderNames = ['hello@shop.example', 'shop.example', 'mx.ours.example']
const wrap = (text: string) => `We could not deliver it.\n\n${text}\n550 5.1.1 <bob@dest.example>... User unknown\n`

describe("believes a reason of the sender's side before the User unknown below it", () => {
  for (const reason of reasons)
    test(reason, () => {
      for (const [enhancedCode, text] of [
        ['5.1.1', '550 5.1.1 <bob@dest.example>... User unknown'],
        ['5.1.3', '501 5.1.3 Bad address'],
        ['5.2.1', 'mailbox disabled'],
        [null, 'User unknown'],
      ] as const)
        expect(
          classifyBounce({ enhancedCode, smtpCode: 550, text, notice: { text: wrap(reason), senderNames } }),
        ).toEqual({
          type: 'permanent',
          scope: 'infrastructure',
          suppress: 'never',
        })
    })
})

/** Replies of the next server in a transcript, and what they mean whatever sendmail wrote below them. */
const transcripts: readonly (readonly [replies: string, expected: string])[] = [
  ['<<< 552 Mailbox full', 'transient recipient never'],
  ['<<< 554 Transaction failed', 'permanent infrastructure never'],
  ['<<< 550-Not\n<<< 550 this time\n<<< 503 5.0.0 Need RCPT', 'undetermined recipient never'],
  ['<<< 550 unknown user or over quota', 'undetermined recipient never'],
  ['<<< 550 5.2.1 Closed', 'permanent recipient at once'],
  ['<<< 550 There is no such person', 'permanent recipient at once'],
  ['<<< 550 Not this time\n<<< 550 5.1.1 Not here', 'permanent recipient at once'],
  ['<<< 451 Try again later', 'permanent recipient at once'],
]

describe('believes the next server before the User unknown of sendmail below it:', () => {
  for (const [replies, expected] of transcripts)
    test(replies, () => {
      const refused = { enhancedCode: '5.1.1', smtpCode: 550, text: '550 5.1.1 <bob@dest.example>... User unknown' }
      const { type, scope, suppress } = classifyBounce({ ...refused, notice: { text: wrap(replies), senderNames } })
      expect(`${type} ${scope} ${suppress}`).toBe(expected)
    })
})

test('finds the reason in a hostile report within 100 ms of CPU time', () => {
  const pieces = [
    'a.',
    'a@',
    '550 a\n',
    '<<< 550-\n',
    'sender ',
    'violates x ',
    'from=<',
    'x-a: b\n ',
    'your host ',
    '<@>',
  ]
  for (const piece of [...pieces, 'header ', 'unknown or ', 'full or unknown ', '550 shop.example']) {
    const text = piece.repeat(Math.ceil((16 * 1024) / piece.length))
    const started = process.cpuUsage()
    classifyBounce({ enhancedCode: '5.1.1', smtpCode: 550, text: text.slice(0, 1000), notice: { text, senderNames } })
    expect([piece, process.cpuUsage(started).user < 100_000]).toEqual([piece, true])
  }
})

describe('still suppresses who does not exist, beside', () => {
  for (const remark of remarks)
    test(remark, () => {
      const refused = { enhancedCode: '5.1.1', smtpCode: 550, text: '550 5.1.1 <bob@dest.example>... User unknown' }
      expect(classifyBounce({ ...refused, notice: { text: wrap(remark), senderNames } }).suppress).toBe('at once')
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
