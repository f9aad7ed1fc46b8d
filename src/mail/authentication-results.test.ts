import { expect, test } from 'bun:test'
import type { Instant } from '../base/clock.ts'
import {
  type DeliveryTrace,
  dropOwnAuthenticationResults,
  traceHeaders,
  withTraceHeaders,
} from './authentication-results.ts'

const none = { result: 'none', domain: null, detail: null }
const delivery: DeliveryTrace = {
  hostname: 'mx.demo.test',
  id: 'msg_1',
  receivedAt: '2026-01-31 08:15:00.000001' as Instant,
  mailFrom: 'a@example.com',
  rcptTo: 'hello@demo.test',
  remoteIp: '192.0.2.1',
  helo: 'out.example.com',
  tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
  smtputf8: false,
  results: {
    spf: { result: 'pass', domain: 'example.com', detail: null },
    dkim: { result: 'fail', domain: 'example.com', detail: 'bad (signature)' },
    dmarc: none,
    arc: none,
  },
}

test('writes how a message was received', () => {
  expect(traceHeaders(delivery)).toBe(
    [
      'Return-Path: <a@example.com>',
      'Received: from out.example.com ([192.0.2.1])',
      ' by mx.demo.test with ESMTPS (TLSv1.3 TLS_AES_256_GCM_SHA384) id msg_1',
      ' for <hello@demo.test>; Sat, 31 Jan 2026 08:15:00 +0000',
      'Authentication-Results: mx.demo.test;',
      ' spf=pass smtp.mailfrom=example.com;',
      ' dkim=fail (bad  signature ) header.d=example.com;',
      ' dmarc=none;',
      ' arc=none',
      '',
    ].join('\r\n'),
  )
})

test('shows the null reverse-path and an IPv6 address', () => {
  const text = traceHeaders({ ...delivery, mailFrom: '', remoteIp: '2001:db8::1', tls: null })
  expect(text).toStartWith('Return-Path: <>\r\nReceived: from out.example.com ([IPv6:2001:db8::1])\r\n')
  expect(text).toContain('with ESMTP id')
})

test('lets nothing that a client sent begin a line', () => {
  const evil = 'x\r\nX-Evil: yes'
  const result = { result: 'pass', domain: evil, detail: evil }
  const text = traceHeaders({
    ...delivery,
    mailFrom: evil,
    helo: evil,
    tls: evil,
    results: { spf: result, dkim: result, dmarc: result, arc: result },
  })
  expect(text).not.toMatch(/^X-Evil/m)
  expect(text.split('\r\n').filter(line => line && !/^( |[A-Z])/.test(line))).toEqual([])
})

const claims = [
  'Authentication-Results: mx.demo.test; spf=pass\r\n',
  'authentication-results:MX.Demo.Test;\r\n\tdkim=pass\r\n',
  'Authentication-Results : (hi (there)) "mx.demo.test" 1; dmarc=pass\r\n',
  'Authentication-Results:\r\n mx.demo.test\r\n ; none\r\n',
]
const others = ['Authentication-Results: mx.other.test; spf=pass\r\n', 'X: mx.demo.test\r\n y\r\n', 'no colon\r\n']

test('drops the results that bear our hostname, and only those', () => {
  const kept = `${others.join('')}\r\n`
  const head = Buffer.from(`${claims[0]}${others[0]}${claims[1]}${others[1]}${claims[2]}${claims[3]}${others[2]}\r\n`)
  expect(dropOwnAuthenticationResults(head, 'mx.demo.test').toString()).toBe(kept)
})

async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

for (const size of [1, 7, 1000])
  test(`adds the trace fields to a message that is read ${size} bytes at a time`, async () => {
    const body = `Authentication-Results: mx.demo.test; spf=pass\r\n\r\nin the body\r\n`
    const message = Buffer.from(`${claims.join('')}Subject: x\r\n\r\n${body}`)
    const pieces = await Array.fromAsync(
      withTraceHeaders(inPieces(message, size), 'Return-Path: <>\r\n', 'mx.demo.test'),
    )
    expect(Buffer.concat(pieces).toString()).toBe(`Return-Path: <>\r\nSubject: x\r\n\r\n${body}`)
  })

test('adds the trace fields to a message that is all header', async () => {
  const pieces = await Array.fromAsync(withTraceHeaders(inPieces(Buffer.from(claims.join('')), 9), '', 'mx.demo.test'))
  expect(Buffer.concat(pieces).toString()).toBe('')
})
