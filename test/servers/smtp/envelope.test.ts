import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SmtpClient } from '../../harness/smtp-client.ts'
import { openTestSmtpServer, type TestSmtpServer } from '../../harness/smtp-server.ts'

let server: TestSmtpServer

beforeAll(async () => {
  server = await openTestSmtpServer({ maxRecipients: 3 })
})

afterAll(() => server.close())

test('greets with its name and offers its extensions, and no others', async () => {
  const client = await SmtpClient.connect(server.port)
  expect(await client.reply()).toBe('220 mx.ours.test ESMTP')
  expect((await client.command('EHLO client.test')).split('\n')).toEqual([
    '250-mx.ours.test',
    '250-PIPELINING',
    '250-8BITMIME',
    '250-SMTPUTF8',
    '250-ENHANCEDSTATUSCODES',
    '250 SIZE 2097152',
  ])
  expect(await client.command('HELO client.test')).toBe('250 mx.ours.test')
})

test('greets with the banner and the version that the operator configured', async () => {
  const shown = await openTestSmtpServer({ smtpBanner: 'Mailroom %v, no UCE' })
  const client = await SmtpClient.connect(shown.port)
  expect(await client.reply()).toMatch(/^220 mx\.ours\.test ESMTP Mailroom \d+\.\d+\.\d+\S*, no UCE$/)
  await shown.close()
})

test('replies to each command with its own codes and texts', async () => {
  const client = await SmtpClient.connect(server.port)
  await client.reply()
  const script: readonly (readonly [line: string, reply: string])[] = [
    ['MAIL FROM:<a@b.test>', '503 5.5.1 Error: send HELO/EHLO first'],
    ['EHLO client.test', '250-'],
    ['RCPT TO:<hello@ours.test>', '503 5.5.1 Commands are out of order'],
    ['DATA', '503 5.5.1 Commands are out of order'],
    ['AUTH PLAIN AGEAYg==', '500 5.5.2 Error: command not recognized'],
    ['STARTTLS', '500 5.5.2 Error: command not recognized'],
    ['BDAT 3', '500 5.5.2 Error: command not recognized'],
    ['MAIL FROM:a@b.test', '501 5.1.7 The reverse-path is malformed'],
    ['MAIL FROM: a@b.test', '501 5.1.7 The reverse-path is malformed'],
    ['MAIL FROM:<a@b.test> BODY=BINARYMIME', '501 5.5.4 A parameter is malformed'],
    ['MAIL FROM:<a@b.test> RET=FULL', '555 5.5.4 A parameter is not supported'],
    ['MAIL FROM:<a@b.test> SIZE=2097153', '552 5.3.4 The message is too large'],
    ['MAIL FROM:<@r:a@b.test>', '553 5.1.7 Source routes and gateway addresses are not accepted'],
    ['MAIL FROM:<é@b.test>', '553 5.6.7 A non-ASCII address needs SMTPUTF8'],
    ['MAIL FROM:<a@b.test> SIZE=5 BODY=8BITMIME', '250 2.1.0 Go on'],
    ['MAIL FROM:<a@b.test>', '503 5.5.1 Commands are out of order'],
    ['DATA', '554 5.5.1 There are no valid recipients'],
    ['RCPT TO:<gone@ours.test>', '550 5.1.1 There is no such mailbox here'],
    ['RCPT TO:<a@elsewhere.test>', '550 5.7.1 Relaying is denied'],
    ['RCPT TO:a@ours.test', '501 5.1.3 The recipient address is malformed'],
    ['RCPT TO: a@ours.test', '501 5.1.3 The recipient address is malformed'],
    ['RCPT TO:postmaster', '501 5.1.3 The recipient address is malformed'],
    ['RCPT TO:<a b@ours.test>', '501 5.1.3 The recipient address is malformed'],
    ['RCPT TO:<a@ours.test> NOTIFY=NEVER', '555 5.5.4 A parameter is not supported'],
    ['RCPT TO:<a@ours.test>', '250 2.1.5 Go on'],
    ['RCPT TO:<a@ours.test>', '250 2.1.5 Go on'],
    ['RCPT TO:<b@ours.test>', '250 2.1.5 Go on'],
    ['RCPT TO:<c@ours.test>', '250 2.1.5 Go on'],
    ['RCPT TO:<d@ours.test>', '452 4.5.3 Too many recipients, send the rest in another transaction'],
    ['DATA now', '501 5.5.4 A parameter is malformed'],
    ['NOOP', '250 2.0.0 OK'],
    ['RSET', '250 2.0.0 Flushed'],
    ['DATA', '503 5.5.1 Commands are out of order'],
    ['QUIT', '221 2.0.0 Bye'],
  ]
  for (const [line, reply] of script) {
    const actual = await client.command(line)
    expect(`${line}: ${reply.endsWith('-') ? actual.slice(0, 4) : actual}`).toBe(`${line}: ${reply}`)
  }
  expect(await client.rest()).toBe('')
})

test('accepts mail to a bare postmaster, in any case', async () => {
  const client = await SmtpClient.ready(server.port)
  expect(await client.commands('MAIL FROM:<>', 'RCPT TO:<PostMaster>', 'DATA')).toEqual([
    '250 2.1.0 Go on',
    '250 2.1.5 Go on',
    '354 End data with <CR><LF>.<CR><LF>',
  ])
  expect(await client.command('From: a@b.test\r\n\r\nx\r\n.')).toStartWith('250 ')
  const mail = server.inbound.received.at(-1)
  expect([mail?.mailFrom, mail?.recipients.map(recipient => recipient.address)]).toEqual(['', ['PostMaster']])
})

describe('is not an open relay', () => {
  const paths = [
    '<victim@elsewhere.test>',
    '<victim%elsewhere.test@ours.test>',
    '<victim%elsewhere.test>',
    '<victim%elsewhere.test@[127.0.0.1]>',
    '<victim%elsewhere.test@mx.ours.test>',
    '<"victim%elsewhere.test"@ours.test>',
    '<"victim@elsewhere.test"@ours.test>',
    '<"victim@elsewhere.test">',
    '<"victim%elsewhere.test">',
    '<victim@elsewhere.test@ours.test>',
    '<victim@elsewhere.test@[127.0.0.1]>',
    '<victim@elsewhere.test@mx.ours.test>',
    '<@ours.test:victim@elsewhere.test>',
    '<@[127.0.0.1]:victim@elsewhere.test>',
    '<@ours.test,@mx.ours.test:victim@elsewhere.test>',
    '<@elsewhere.test:hello@ours.test>',
    '<elsewhere.test!victim>',
    '<elsewhere.test!victim@ours.test>',
    '<elsewhere.test!victim@[127.0.0.1]>',
    '<"elsewhere.test!victim"@ours.test>',
    '<ours.test!elsewhere.test!victim@ours.test>',
    '<victim@[127.0.0.1]>',
    '<victim@[192.0.2.1]>',
    '<victim@[IPv6:::1]>',
    '<victim@127.0.0.1>',
    '<victim@localhost>',
    '<victim>',
    '<root>',
    '<>',
    '<@ours.test>',
    '<victim@>',
    '<victim@elsewhere.test> ORCPT=rfc822;hello@ours.test',
    '<victim@elsewhere.test>,<hello@ours.test>',
    '<victim@elsewhere.test> <hello@ours.test>',
    'victim@elsewhere.test',
    '<victim@elsewhere.test\0@ours.test>',
    '<victim@ours.test.elsewhere.test>',
    '<victim@elsewhere.test.>',
    '<victim@elsewhere.test#@ours.test>',
    '<victim@elsewhere.test,hello@ours.test>',
    '<victim:elsewhere.test@ours.test>',
    '<postmaster@elsewhere.test>',
  ]
  for (const path of paths)
    test(`for ${JSON.stringify(path)}`, async () => {
      const client = await SmtpClient.ready(server.port)
      await client.command('MAIL FROM:<a@b.test>')
      expect(await client.command(`RCPT TO:${path}`)).toMatch(/^5(?:50 5\.7\.1|01 5\.1\.3|55 5\.5\.4|01 5\.5\.4) /)
      expect(await client.command('DATA')).toStartWith('554 5.5.1 ')
      client.hangUp()
    })

  test('and refuses routes in the reverse-path', async () => {
    const client = await SmtpClient.ready(server.port)
    for (const path of ['<@r:a@b.test>', '<a%b.test@ours.test>', '<b.test!a@ours.test>', '<"a@b.test"@ours.test>'])
      expect(await client.command(`MAIL FROM:${path}`)).toStartWith('553 5.1.7 ')
  })
})

test('accepts pipelined commands, and replies in their order', async () => {
  const client = await SmtpClient.ready(server.port)
  const transaction = 'MAIL FROM:<a@b.test>\r\nRCPT TO:<gone@ours.test>\r\nRCPT TO:<hello@ours.test>\r\nDATA\r\n'
  client.send(transaction)
  const codes = []
  for (let i = 0; i < 4; i++) codes.push((await client.reply()).slice(0, 9))
  expect(codes).toEqual(['250 2.1.0', '550 5.1.1', '250 2.1.5', '354 End d'])
  // Then two whole messages, the second one behind the first one's final dot.
  client.send(`one\r\n.\r\n${transaction}two\r\n.\r\nQUIT\r\n`)
  const rest = (await client.rest()).split('\r\n').map(line => line.slice(0, 9))
  expect(rest).toEqual(['250 2.0.0', '250 2.1.0', '550 5.1.1', '250 2.1.5', '354 End d', '250 2.0.0', '221 2.0.0', ''])
  expect(server.inbound.received.slice(-2).map(({ bytes }) => bytes.toString())).toEqual(['one\r\n', 'two\r\n'])
})

test('accepts non-ASCII addresses with SMTPUTF8 only', async () => {
  const client = await SmtpClient.ready(server.port)
  expect(await client.command('MAIL FROM:<用户@例子.test> SMTPUTF8')).toBe('250 2.1.0 Go on')
  expect(await client.command('RCPT TO:<jürgen@ours.test>')).toBe('250 2.1.5 Go on')
  await client.command('DATA')
  await client.command('From: a@b.test\r\n\r\nx\r\n.')
  expect(server.inbound.received.at(-1)).toMatchObject({ mailFrom: '用户@例子.test', smtputf8: true })
  expect(server.inbound.lookedUp.at(-1)).toBe('jürgen@ours.test')
  await client.command('MAIL FROM:<a@b.test>')
  expect(await client.command('RCPT TO:<jürgen@ours.test>')).toStartWith('553 5.6.7 ')
})

test('logs the client, without control characters, addresses or content', async () => {
  const client = await SmtpClient.connect(server.port)
  await client.reply()
  expect(await client.command('EHLO a\x1b[31m.test')).toStartWith('501 ')
  expect(await client.command('EHLO a\r.test')).toStartWith('501 ')
  expect(await client.command('EHLO "},"level":60.test')).toStartWith('250')
  await client.commands('MAIL FROM:<secret@b.test>', 'RCPT TO:<hello@ours.test>', 'DATA')
  expect(await client.command('Subject: secret\x1b[2J\r\n\r\nx\r\n.')).toStartWith('250 ')
  const mail = server.inbound.received.at(-1)
  expect(mail).toMatchObject({ helo: '"},"level":60.test', remoteIp: '127.0.0.1', tls: null })
  const lines = server.logged.map(line => JSON.parse(line) as Record<string, unknown>)
  expect(server.logged.every(line => line.indexOf('\n') === line.length - 1)).toBe(true)
  expect(lines.find(line => line['transaction_id'] === mail?.id)).toMatchObject({
    level: 30,
    msg: 'message accepted',
    helo: '"},"level":60.test',
    message_id: `msg_${server.inbound.received.length}`,
    recipients: 1,
  })
  for (const hidden of ['secret', 'hello@', '\x1b']) expect(server.logged.join('')).not.toContain(hidden)
})

test('does not execute an unterminated line', async () => {
  const client = await SmtpClient.ready(server.port)
  const before = server.inbound.lookedUp.length
  await client.command('MAIL FROM:<a@b.test>')
  client.send('RCPT TO:<hello@ours.test>')
  client.hangUp()
  // A sleep proves that nothing happens: the server has read the line and seen the end by then.
  await Bun.sleep(60)
  expect(server.inbound.lookedUp.length).toBe(before)
})
