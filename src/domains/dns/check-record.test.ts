import { describe, expect, test } from 'bun:test'
import { statusAfterCheck } from '../check.ts'
import { ownershipRecord } from '../ownership.ts'
import { evaluateAnswer, evaluateValues } from './check-record.ts'
import { type ExpectedRecord, mxRecord, receivingIdentityRecord, senderRecords } from './records.ts'

const instance = { hostname: 'MX.Mailroom.example', spfInclude: 'spf.relay.example' }
const organizationId = 'org_00000000000000000000000000'

function txt(purpose: ExpectedRecord['purpose'], value: string, required = true): ExpectedRecord {
  return { purpose, type: 'TXT', name: 'a.example', value, priority: null, required }
}

const dkim = txt('dkim', 'v=DKIM1; k=rsa; p=MIIB/+AA==')
const spf = txt('spf', 'v=spf1 include:spf.relay.example ~all')
const dmarc = txt('dmarc', 'v=DMARC1; p=none', false)
const ownership = ownershipRecord(organizationId, 'a.example')
const identity = receivingIdentityRecord(organizationId, 'a.example', instance)
const mx = mxRecord('a.example', instance)
const [bounceMx = mx, bounceSpf = mx] = senderRecords('a.example', { ...instance, returnPath: 'ours' }).filter(
  senderRecord => senderRecord.purpose === 'return_path',
)

describe('verified', () => {
  test.each([
    ['DKIM as given', dkim, ['v=DKIM1; k=rsa; p=MIIB/+AA==']],
    ['DKIM with other spacing and tags', dkim, ['p = MIIB/ +AA== ;v=DKIM1;t=s; n=note']],
    ['DKIM without its version', dkim, ['k=rsa; p=MIIB/+AA==']],
    ['SPF among other texts', spf, ['site=1', 'v=spf1 include:spf.relay.example ~all']],
    ['DMARC of another policy', dmarc, ['v=DMARC1;p=reject; rua=mailto:a@b.example']],
    ['ownership beside that of others', ownership, ['mailroom-ownership=other', ownership.value]],
    ['a CNAME in capitals with a final dot', identity, [`${identity.value.toUpperCase()}.`]],
    ['MX among others', mx, ['5 other.example', '20 mx.mailroom.example']],
  ])('%s', (_, record, values) => {
    expect(evaluateValues(record, values).status).toBe('verified')
  })
})

describe('mismatch, with what was found', () => {
  test.each([
    ['another DKIM key', dkim, ['v=DKIM1; p=AAAA']],
    ['a revoked DKIM key', dkim, ['v=DKIM1; p=']],
    ['no DKIM key at all', dkim, ['hello']],
    ['two DKIM records', dkim, [dkim.value, dkim.value]],
    ['another version of DKIM', dkim, ['v=DKIM2; p=MIIB/+AA==']],
    ['DMARC without a policy', dmarc, ['v=DMARC1; rua=mailto:a@b.example']],
    ['two DMARC records', dmarc, ['v=DMARC1; p=none', 'v=DMARC1; p=reject']],
    ['another ownership value', ownership, ['mailroom-ownership=other']],
    ['another CNAME', identity, ['other.example']],
    ['another MX', mx, ['10 other.example']],
  ])('%s', (_, record, values) => {
    expect(evaluateValues(record, values)).toMatchObject({ status: 'mismatch', found: values })
  })
})

test('a return path is an MX record that points to us and an SPF record among other texts', () => {
  expect(evaluateValues(bounceMx, ['5 other.example', '10 MX.mailroom.example.']).status).toBe('verified')
  expect(evaluateValues(bounceMx, ['10 other.example'])).toEqual({ status: 'mismatch', found: ['10 other.example'] })
  expect(evaluateValues(bounceSpf, ['site=1', spf.value]).status).toBe('verified')
  expect(evaluateValues(bounceSpf, ['site=1']).status).toBe('pending')
  expect(senderRecords('a.example', instance).map(senderRecord => senderRecord.purpose)).toEqual(['spf', 'dmarc'])
  expect([bounceMx, bounceSpf]).toMatchObject([
    { type: 'MX', name: 'mr-bounces.a.example', value: 'mx.mailroom.example', priority: 10, required: false },
    { type: 'TXT', name: 'mr-bounces.a.example', value: spf.value, priority: null, required: false },
  ])
})

test.each([
  ['texts that are no SPF', spf, ['site=1', 'v=spf10 mx', 'xv=spf1']],
  ['texts that are no DMARC', dmarc, ['v=DMARC2; p=none', 'hello']],
  ['nothing', dkim, []],
])('pending: %s', (_, record, values) => {
  expect(evaluateValues(record, values)).toEqual({ status: 'pending', found: [] })
})

test('a failed look-up is unknown, an absent record is not', () => {
  expect(evaluateAnswer(dkim, { kind: 'failed', why: 'SERVFAIL' })).toEqual({
    status: 'unknown',
    found: [],
    failure: 'SERVFAIL',
  })
  expect(evaluateAnswer(dkim, { kind: 'none', why: 'nxdomain' }).status).toBe('pending')
})

test('the found values are limited in size', () => {
  const { found } = evaluateValues(ownership, Array(50).fill('x'.repeat(5000)))
  expect(found).toHaveLength(10)
  expect(found[0]).toHaveLength(600)
})

describe('a domain', () => {
  const seen = (...statuses: ('pending' | 'verified' | 'mismatch' | 'unknown')[]) =>
    statuses.map(status => ({ purpose: 'dkim', required: 1, status }) as const)
  const optional = { purpose: 'dmarc', required: 0, status: 'mismatch' } as const

  test('is verified once all required records are', () => {
    expect(statusAfterCheck('pending', [...seen('verified', 'verified'), optional])).toBe('verified')
    expect(statusAfterCheck('pending', seen('verified', 'pending'))).toBe('pending')
    expect(statusAfterCheck('failed', seen('verified', 'verified'))).toBe('verified')
  })

  test('has failed once a verified record is gone', () => {
    expect(statusAfterCheck('verified', seen('verified', 'pending'))).toBe('failed')
    expect(statusAfterCheck('verified', seen('mismatch', 'unknown'))).toBe('failed')
    expect(statusAfterCheck('failed', seen('mismatch', 'verified'))).toBe('failed')
    expect(statusAfterCheck('failed', seen('unknown', 'verified'))).toBe('failed')
  })

  test('stays as it was while look-ups fail', () => {
    expect(statusAfterCheck('verified', seen('verified', 'unknown'))).toBe('verified')
    expect(statusAfterCheck('pending', seen('verified', 'unknown'))).toBe('pending')
  })

  test('is not verified without records, nor by those for receiving', () => {
    expect(statusAfterCheck('pending', [])).toBe('pending')
    expect(statusAfterCheck('pending', [{ purpose: 'mx', required: 1, status: 'verified' }])).toBe('pending')
  })
})
