import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { type Instant, millisecondsOf, plusMs, systemClock } from '../../../src/base/clock.ts'
import { fromJson } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { registry } from '../../../src/base/observability/metrics.ts'
import { secretsOf } from '../../../src/base/secrets/secrets.ts'
import { formatDate } from '../../../src/mail/date.ts'
import type { InboundPipeline, IncomingMessage } from '../../../src/receiving/incoming-message.ts'
import { newReturnPaths } from '../../../src/sending/reports/return-path.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import {
  fakeAuthenticator,
  inboundPipeline,
  inMemory,
  mailTo,
  messagesOf,
  type Receiver,
  receiver,
  refusalOf,
  reportFixture,
  sentEmail,
} from '../fixtures.ts'

const hostname = 'mx.ours.test'
const returnPaths = newReturnPaths(secretsOf([randomBytes(32)]))

let database: FreshDatabase
let shop: Receiver
let inbound: InboundPipeline

beforeAll(async () => {
  database = await freshDatabase(8)
})
afterAll(() => database.close())
beforeEach(async () => {
  shop = await receiver(database)
  inbound = inboundPipeline(shop, { bounces: { returnPaths, hostname } })
})

const sent = (to?: readonly string[]): Promise<Id<'eml'>> => sentEmail(shop, to)

const bounceAddress = (emailId: Id<'eml'>, position = 0, host = hostname) =>
  returnPaths.addressOf({ emailId, position }, host)

async function deliver(
  message: string,
  to: readonly string[],
  more: Partial<IncomingMessage> = {},
  by = inbound,
): Promise<void> {
  const recipients = await Promise.all(to.map(address => by.findRecipient(address)))
  await by.receive(mailTo(recipients, inMemory(Buffer.from(message, 'latin1')), { mailFrom: '', ...more }))
}

const recipientsOf = async (emailId: Id<'eml'>) =>
  (
    await database.db
      .selectFrom('email_recipients')
      .select(['email', 'status', 'smtp_code', 'enhanced_code'])
      .where('email_id', '=', emailId)
      .orderBy('position')
      .execute()
  ).map(row => `${row.email} ${row.status} ${row.smtp_code} ${row.enhanced_code}`)

const eventsOf = async (emailId: Id<'eml'>) =>
  (
    await database.db.selectFrom('email_events').selectAll().where('email_id', '=', emailId).orderBy('id').execute()
  ).map(row => ({ ...row, bounce: row.bounce && fromJson(row.bounce), extra: fromJson(row.extra) }))

const suppressions = () =>
  database.db.selectFrom('suppressions').selectAll().where('organization_id', '=', shop.organizationId).execute()

async function counted(outcome: string): Promise<number> {
  const metric = await registry.getSingleMetric('mailroom_reports_total')?.get()
  return metric?.values.find(value => value.labels['outcome'] === outcome)?.value ?? 0
}

/** How much the counter grew under this outcome. */
async function countedBy(outcome: string, work: () => Promise<unknown>): Promise<number> {
  const before = await counted(outcome)
  await work()
  return (await counted(outcome)) - before
}

describe('a report at the bounce address of a recipient', () => {
  test('bounces that recipient, with the evidence, and suppresses them', async () => {
    const id = await sent()
    await deliver(reportFixture('postfix'), [bounceAddress(id)])
    expect(await recipientsOf(id)).toEqual(['bob@dest.example bounced 550 5.1.1'])
    expect(await eventsOf(id)).toMatchObject([
      {
        type: 'bounced',
        recipient: 'bob@dest.example',
        source: 'dsn',
        smtp_code: 550,
        enhanced_code: '5.1.1',
        detail: expect.stringContaining('User unknown in virtual mailbox table'),
        bounce: { type: 'permanent', scope: 'recipient', suppressed: true },
        extra: { action: 'failed', reporting_mta: 'mx.relay.example', remote_mta: 'mx.dest.example' },
      },
    ])
    expect(await suppressions()).toMatchObject([
      {
        email: 'bob@dest.example',
        brand_id: shop.brandId,
        reason: 'hard_bounce',
        source_email_id: id,
        evidence: expect.stringContaining('550 5.1.1'),
      },
    ])
    expect(await messagesOf(shop)).toEqual([])
  })

  test('counts once, however often it comes and whatever else is in the message', async () => {
    const id = await sent()
    const again = reportFixture('postfix').replace('Date:', 'X-Copy: 2\r\nDate:')
    const repeated = await countedBy('repeated', async () => {
      for (const message of [reportFixture('postfix'), reportFixture('postfix'), again])
        await deliver(message, [bounceAddress(id)])
    })
    expect([(await eventsOf(id)).length, (await suppressions()).length, repeated]).toEqual([1, 1, 2])
    await Promise.all(Array.from({ length: 5 }, () => deliver(again, [bounceAddress(id)])))
    expect((await eventsOf(id)).length).toBe(1)
  })

  test('is about that recipient only, whoever it names', async () => {
    const id = await sent(['ann@dest.example', 'bob@dest.example', 'cy@dest.example'])
    await deliver(reportFixture('postfix').replaceAll('bob@dest.example', 'cy@dest.example'), [bounceAddress(id, 1)])
    expect(await recipientsOf(id)).toEqual([
      'ann@dest.example sent null null',
      'bob@dest.example bounced 550 5.1.1',
      'cy@dest.example sent null null',
    ])
    expect((await suppressions()).map(suppression => suppression.email)).toEqual(['bob@dest.example'])
  })

  test('uses the fields of its own recipient among several', async () => {
    const id = await sent(['bob@dest.example'])
    await deliver(reportFixture('postfix-two-recipients'), [bounceAddress(id)])
    expect(await recipientsOf(id)).toEqual(['bob@dest.example bounced 554 5.7.1'])
    expect((await eventsOf(id))[0]?.bounce).toEqual({ type: 'permanent', scope: 'infrastructure', suppressed: false })
    expect(await suppressions()).toEqual([])
  })

  test('ends in the same status in whatever order it comes', async () => {
    const names = ['postfix-delayed', 'postfix-relayed', 'delivered', 'postfix']
    for (const order of permutations(names)) {
      const id = await sent()
      for (const name of order) await deliver(reportFixture(name), [bounceAddress(id)])
      expect([order, await recipientsOf(id)]).toEqual([order, ['bob@dest.example bounced 550 5.1.1']])
      expect((await eventsOf(id)).length).toBe(4)
    }
  })

  test('ends in the same status whether the delay or the later relaying is reported first', async () => {
    const delayed = (minutes: number) => writtenAt(reportFixture('postfix-delayed'), minutes)
    const relayed = (minutes: number) => writtenAt(reportFixture('postfix-relayed'), minutes)
    for (const [reports, status] of [
      [[delayed(40), relayed(20)], 'sent'],
      [[relayed(40), delayed(20)], 'delayed'],
      [[delayed(40), relayed(30), delayed(20)], 'delayed'],
    ] as const)
      for (const order of permutations(reports)) {
        const id = await sentEmail(shop, undefined, 60)
        for (const message of order) await deliver(message, [bounceAddress(id)])
        expect((await recipientsOf(id))[0]).toStartWith(`bob@dest.example ${status} `)
      }
  })

  test('has the time of its last attempt, unless that is impossible', async () => {
    const id = await sentEmail(shop, undefined, 60)
    const lastTry = reportFixture('postfix-delayed').replace(
      /^Action: delayed\r?$/m,
      `$&\nLast-Attempt-Date: ${minutesAgo(50)}`,
    )
    const arrival = systemClock.now()
    for (const message of [
      writtenAt(lastTry, 20),
      writtenAt(reportFixture('postfix-delayed'), 30),
      writtenAt(reportFixture('postfix-delayed'), 90),
      writtenAt(reportFixture('postfix-delayed'), -90),
    ])
      await deliver(message, [bounceAddress(id)], { receivedAt: arrival })
    const times = (await eventsOf(id)).map(event => event.occurred_at)
    const reportedAt = [50, 30].map(minutes => plusMs(arrival, -minutes * 60_000))
    expect(times.slice(2)).toEqual([arrival, arrival])
    for (const [i, at] of reportedAt.entries())
      expect(Math.abs(millisecondsOf(times[i] ?? arrival) - millisecondsOf(at))).toBeLessThan(60_000)
  })

  test('does not count a relayed message as delivered', async () => {
    const id = await sent()
    await deliver(reportFixture('postfix-relayed'), [bounceAddress(id)])
    expect(await eventsOf(id)).toMatchObject([{ type: 'sent', extra: { action: 'relayed' } }])
    expect(await recipientsOf(id)).toEqual(['bob@dest.example sent null 2.0.0'])
  })

  test('records each delay that is reported separately', async () => {
    const id = await sent()
    const later = reportFixture('postfix-delayed').replace(/^Message-ID: .*$/m, 'Message-ID: <later@reporter.example>')
    for (const message of [reportFixture('postfix-delayed'), reportFixture('postfix-delayed'), later])
      await deliver(message, [bounceAddress(id)])
    expect((await eventsOf(id)).map(event => event.type)).toEqual(['delayed', 'delayed'])
  })

  test('suppresses a closed mailbox at the second bounce, at least 24 hours after the first', async () => {
    const closed = reportFixture('microsoft-365-edge')
    const at = (hours: number) => ({ receivedAt: plusMs(systemClock.now(), hours * 3_600_000) as Instant })
    const suppressedAfter = async (hours: number) => {
      const id = await sent()
      await deliver(closed, [bounceAddress(id)], at(hours))
      return (await eventsOf(id))[0]?.bounce?.suppressed
    }
    expect(await suppressedAfter(0)).toBe(false)
    expect(await suppressedAfter(23)).toBe(false)
    expect(await suppressions()).toEqual([])
    expect(await suppressedAfter(24.1)).toBe(true)
    expect(await suppressions()).toMatchObject([{ email: 'bob@dest.example', reason: 'hard_bounce' }])
  })

  test('records a complaint that names nobody', async () => {
    const id = await sent(['ann@dest.example', 'bob@dest.example'])
    await deliver(reportFixture('arf-redacted'), [bounceAddress(id, 1)])
    expect(await recipientsOf(id)).toEqual(['ann@dest.example sent null null', 'bob@dest.example complained null null'])
    expect(await eventsOf(id)).toMatchObject([{ type: 'complained', extra: { feedback_type: 'abuse' } }])
    expect(await suppressions()).toMatchObject([{ email: 'bob@dest.example', reason: 'complaint' }])
  })

  test('may come in one message with mail for a mailbox', async () => {
    const id = await sent()
    await shop.mailbox('')
    const message = reportFixture('postfix').replace('From: MAILER-DAEMON@mx.relay.example', 'From: a@x.test')
    await deliver(message, [bounceAddress(id), `postmaster@${shop.domain}`])
    expect(await recipientsOf(id)).toEqual(['bob@dest.example bounced 550 5.1.1'])
    expect((await messagesOf(shop)).length).toBe(1)
  })

  test('may have its address in upper case, and at the return path of its domain', async () => {
    const id = await sent()
    const host = `mr-bounces.${shop.domain}`
    await database.db
      .insertInto('domain_records')
      .values({
        id: `rec_${randomBytes(13).toString('hex')}`,
        domain_id: shop.domainId,
        purpose: 'return_path',
        type: 'MX',
        name: host,
        value: hostname,
        priority: 10,
        required: 0,
        status: 'pending',
        found: '[]',
        checked_at: null,
      })
      .execute()
    await deliver(reportFixture('postfix'), [bounceAddress(id, 0, host).toUpperCase()])
    expect(await recipientsOf(id)).toEqual(['bob@dest.example bounced 550 5.1.1'])
    const forged = bounceAddress(id, 0, host)
      .replace(/.@/, '!@')
      .replace('!', bounceAddress(id).includes('0@') ? '1' : '0')
    expect(
      await countedBy('forged', async () =>
        expect(await refusalOf(inbound.findRecipient(forged))).toBe('mailbox_unknown'),
      ),
    ).toBe(1)
  })

  test('changes nothing once the client has disconnected', async () => {
    const id = await sent()
    const gone = { signal: AbortSignal.abort() }
    expect(await refusalOf(deliver(reportFixture('postfix'), [bounceAddress(id)], gone))).toBe('answer_late')
    expect(await eventsOf(id)).toEqual([])
  })
})

describe('a notification to a bounce address', () => {
  const withoutReturnPath = (name: string) => reportFixture(name).replace(/^Return-Path: .*\r\n/, '')

  test('is recorded with its words, and with no claim, when it has no known form', async () => {
    const words: Readonly<Record<string, string>> = {
      'none-null-sender-vacation': 'Your order: I am away until Monday',
      'none-null-sender-challenge':
        'Please confirm your message: Your message to bob@dest.example has not been delivered',
      'none-postmaster-challenge': 'takes mail from people that he knows',
      'none-postmaster-delivered': 'successfully delivered',
      'none-quarantine-notice': 'held for review',
      'none-dovecot-rejected': 'declined by the filter',
      'none-person-quotes-bounce': 'User unknown',
    }
    for (const [name, text] of Object.entries(words)) {
      const id = await sent()
      for (let copy = 0; copy < 2; copy++) await deliver(withoutReturnPath(name), [bounceAddress(id)])
      expect(await eventsOf(id)).toMatchObject([
        {
          type: 'sent',
          recipient: 'bob@dest.example',
          source: 'dsn',
          detail: expect.stringContaining(text),
          bounce: { type: 'undetermined', scope: 'recipient', suppressed: false },
        },
      ])
      expect((await recipientsOf(id))[0]).toBe('bob@dest.example sent null null')
    }
    expect(await suppressions()).toEqual([])
  })

  test('leaves a delay, a delivery and a bounce as they are', async () => {
    for (const [name, status] of [
      ['postfix-delayed', 'delayed'],
      ['delivered', 'delivered'],
      ['postfix', 'bounced'],
    ] as const) {
      const id = await sent()
      await deliver(reportFixture(name), [bounceAddress(id)])
      await deliver(withoutReturnPath('none-null-sender-vacation'), [bounceAddress(id)])
      expect((await recipientsOf(id))[0]).toStartWith(`bob@dest.example ${status} `)
      expect((await eventsOf(id)).length).toBe(2)
    }
  })

  test('is recorded even if it has no text, and no readable header', async () => {
    for (const message of ['From: a@x.test\r\n\r\n', '\r\n', `Subject: ${'x'.repeat(5000)}\r\n\r\n`]) {
      const id = await sent()
      await deliver(message, [bounceAddress(id)])
      const [event] = await eventsOf(id)
      expect(event?.bounce?.type).toBe('undetermined')
      expect(event?.detail?.length).toBeWithin(1, 1001)
    }
  })

  test('is recorded with others up to a limit, which whoever has the address cannot pass', async () => {
    const id = await sent()
    const words = Array.from({ length: 55 }, (_, i) => `Notice ${i}`)
    for (const subject of words) await deliver(`Subject: ${subject}\r\n\r\n`, [bounceAddress(id)])
    expect((await eventsOf(id)).map(event => event.detail)).toEqual(words.slice(0, 50))
    await deliver(reportFixture('postfix'), [bounceAddress(id)])
    expect(await recipientsOf(id)).toEqual(['bob@dest.example bounced 550 5.1.1'])
  })

  test('is read as one by its envelope, whoever its From names', async () => {
    for (const name of ['exim-without-from', 'noreply-gateway']) {
      const id = await sent()
      await deliver(withoutReturnPath(name), [bounceAddress(id)])
      expect(await recipientsOf(id)).toEqual(['bob@dest.example bounced 550 5.1.1'])
    }
    const id = await sent()
    const fromPerson = withoutReturnPath('qmail').replace(/^From: .*$/m, 'From: Night shift <night@dest.example>')
    await deliver(fromPerson, [bounceAddress(id)])
    expect(await recipientsOf(id)).toEqual(['bob@dest.example bounced 550 5.1.1'])
  })

  test('bounces the recipient without a known phrase if a mail system wrote it, undetermined', async () => {
    const id = await sent()
    await deliver(withoutReturnPath('zimbra-unworded'), [bounceAddress(id)])
    expect(await eventsOf(id)).toMatchObject([
      { type: 'bounced', bounce: { type: 'undetermined', suppressed: false }, detail: expect.stringContaining('2024') },
    ])
  })
})

describe("a reason of the sender's side", () => {
  test('is the detail of the bounce, and nobody is suppressed', async () => {
    const reasons: Readonly<Record<string, string>> = {
      'sendmail-relay-spf': '550 SPF check failed',
      'sendmail-relay-policy': '554 Rejected by local policy',
      'sendmail-relay-attack': '550 Directory harvest attack',
      'sendmail-relay-host': '550 mx.relay.example',
      'exim-mail-from': 'after pipelined MAIL FROM',
      'barracuda-user-unknown': 'blocklist',
      'ironport-policy': 'policy reasons',
    }
    for (const [name, reason] of Object.entries(reasons)) {
      const id = await sent()
      await deliver(reportFixture(name), [bounceAddress(id)])
      expect([name, await eventsOf(id)]).toMatchObject([
        name,
        [
          {
            type: 'bounced',
            detail: expect.stringContaining(reason),
            bounce: { type: 'permanent', scope: 'infrastructure', suppressed: false },
          },
        ],
      ])
    }
    expect(await suppressions()).toEqual([])
  })

  test('is what the next server said, where sendmail wrote User unknown below it', async () => {
    const full = await sent()
    await deliver(reportFixture('sendmail-relay-mailbox-full'), [bounceAddress(full)])
    const refused = await sent()
    await deliver(reportFixture('sendmail-relay-refused'), [bounceAddress(refused)])
    expect([...(await eventsOf(full)), ...(await eventsOf(refused))]).toMatchObject([
      { detail: expect.stringContaining('552 Mailbox of bob is full |'), bounce: { type: 'transient' } },
      { detail: expect.stringContaining('550 Not this time |'), bounce: { type: 'undetermined', suppressed: false } },
    ])
    expect(await suppressions()).toEqual([])
  })

  test('is one that names the address, the domain or the bounce address of the sender, or our host', async () => {
    const template = reportFixture('postfix').replaceAll('Recipient address rejected', 'Not REASON')
    const id = await sent()
    const sender = bounceAddress(id)
    const ours = inboundPipeline(shop, { bounces: { returnPaths, hostname }, hostname })
    for (const name of [`hello@${shop.domain}`, shop.domain, sender, hostname]) {
      const email = await sent()
      await deliver(template.replaceAll('REASON', name), [bounceAddress(email)], {}, ours)
      expect([name, (await eventsOf(email))[0]?.bounce]).toMatchObject([name, { scope: 'infrastructure' }])
      expect(await suppressions()).toEqual([])
    }
    await deliver(template.replaceAll('REASON', 'other.example'), [sender], {}, ours)
    expect((await suppressions()).length).toBe(1)
  })

  test('does not count towards a closed mailbox that is reported later', async () => {
    const at = (hours: number) => ({ receivedAt: plusMs(systemClock.now(), hours * 3_600_000) as Instant })
    const closed = reportFixture('microsoft-365-edge')
    const blamed = closed.replace(/^(Content-Type: text\/plain.*\r\n\r\n)/m, '$1The sender address was rejected.\r\n')
    expect(blamed).not.toBe(closed)
    for (const [message, hours] of [
      [blamed, 0],
      [closed, 25],
    ] as const)
      await deliver(message, [bounceAddress(await sent())], at(hours))
    expect(await suppressions()).toEqual([])
    await deliver(closed, [bounceAddress(await sent())], at(50))
    expect((await suppressions()).length).toBe(1)
  })

  test('is not a domain that sender and recipient share', async () => {
    const id = await sent([`bob@${shop.domain}`])
    const same = reportFixture('postfix').replaceAll('dest.example', shop.domain)
    await deliver(same, [bounceAddress(id)])
    expect((await suppressions()).map(suppression => suppression.email)).toEqual([`bob@${shop.domain}`])
  })
})

test("suppresses at the second report, a day after the first, who receives no email by Google's word", async () => {
  const at = (hours: number) => ({ receivedAt: plusMs(systemClock.now(), hours * 3_600_000) as Instant })
  const bounces = []
  for (const hours of [0, 12, 25]) {
    const id = await sent()
    await deliver(reportFixture('gmail-receives-no-email'), [bounceAddress(id)], at(hours))
    bounces.push((await eventsOf(id))[0]?.bounce)
  }
  expect(bounces).toEqual([
    { type: 'undetermined', scope: 'recipient', suppressed: false },
    { type: 'undetermined', scope: 'recipient', suppressed: false },
    { type: 'undetermined', scope: 'recipient', suppressed: true },
  ])
})

describe('a message to a bounce address that is no report', () => {
  test('is accepted and ignored when it is an auto-reply', async () => {
    const id = await sent()
    const count = await countedBy('auto-reply', async () => {
      for (const name of ['auto-rfc3834', 'auto-german', 'auto-x-autoreply'])
        await deliver(reportFixture(name), [bounceAddress(id)])
    })
    expect([await eventsOf(id), count]).toEqual([[], 3])
  })

  test('is refused when a person wrote it', async () => {
    const id = await sent()
    for (const name of ['none-person-quotes-bounce', 'none-person-pastes-bounce', 'none-person-forwards-bounce']) {
      const written = deliver(reportFixture(name), [bounceAddress(id)], { mailFrom: 'bob@dest.example' })
      expect(await refusalOf(written)).toBe('reports_only')
    }
    expect(await eventsOf(id)).toEqual([])
  })
})

describe('a forged report changes nothing', () => {
  test('to an address with a wrong signature, which is refused and counted', async () => {
    const id = await sent()
    const right = bounceAddress(id)
    const wrong = [
      newReturnPaths(secretsOf([randomBytes(32)])).addressOf({ emailId: id, position: 0 }, hostname),
      right.replace(/^(b\+.{26})../, '$101'),
      right.replace(/^b\+./, 'b+z'),
    ]
    for (const address of wrong)
      expect(
        await countedBy('forged', async () =>
          expect(await refusalOf(inbound.findRecipient(address))).toBe('mailbox_unknown'),
        ),
      ).toBe(1)
    expect(await refusalOf(inbound.findRecipient(right.replace(hostname, 'mx.other.test')))).toBe('mailbox_unknown')
    expect(await refusalOf(inbound.findRecipient(bounceAddress(id, 7)))).toBe('mailbox_unknown')
    expect(await eventsOf(id)).toEqual([])
  })

  test('to a mailbox, if it names no email of ours, or names one by what strangers can know', async () => {
    await shop.mailbox('')
    const id = await sent()
    const email = await database.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const unattributed = await countedBy('unattributed', async () => {
      for (const text of [
        reportFixture('postfix'),
        reportFixture('postfix').replace(/^X-Mailroom-Id: .*$/m, `X-Mailroom-Id: ${email.brand_id}`),
      ])
        await deliver(fromAnyone(text), [`hello@${shop.domain}`])
    })
    expect([unattributed, await eventsOf(id), await suppressions()]).toEqual([2, [], []])
  })

  test('to a mailbox of another organization', async () => {
    const other = await receiver(database)
    await other.mailbox('')
    const id = await sent()
    await deliver(naming(id), [`hello@${other.domain}`])
    expect(await eventsOf(id)).toEqual([])
  })

  test('to a mailbox, about someone to whom the email did not go, or about all recipients', async () => {
    await shop.mailbox('')
    const id = await sent(['ann@dest.example', 'bob@dest.example'])
    await deliver(naming(id).replaceAll('bob@dest.example', 'zoe@dest.example'), [`hello@${shop.domain}`])
    await deliver(fromAnyone(reportFixture('arf-redacted').replaceAll(fixtureId, id)), [`hello@${shop.domain}`])
    expect(await eventsOf(id)).toEqual([])
  })

  test('that fails DMARC or SPF', async () => {
    await shop.mailbox('')
    const id = await sent()
    const failing = inboundPipeline(shop, {
      bounces: { returnPaths, hostname },
      authenticator: fakeAuthenticator({ spf: { result: 'fail', domain: 'x.test', aligned: null, detail: null } }),
    })
    await deliver(naming(id), [`hello@${shop.domain}`], {}, failing)
    expect([await eventsOf(id), (await messagesOf(shop)).map(message => message.folder)]).toEqual([[], ['spam']])
  })
})

describe('a report in a mailbox of the sender', () => {
  test('counts for the recipients it names, without suppressing them if the email had several, who might have written it', async () => {
    await shop.mailbox('')
    const id = await sent(['ann@dest.example', 'bob@dest.example'])
    await deliver(naming(id), [`hello@${shop.domain}`])
    await deliver(fromAnyone(reportFixture('arf-abuse').replaceAll(fixtureId, id)), [`hello@${shop.domain}`])
    expect(await recipientsOf(id)).toEqual(['ann@dest.example sent null null', 'bob@dest.example bounced 550 5.1.1'])
    expect(await suppressions()).toEqual([])
  })

  test('counts if it names the email by its id, and is filed', async () => {
    await shop.mailbox('')
    const id = await sent()
    await deliver(naming(id), [`hello@${shop.domain}`])
    expect(await recipientsOf(id)).toEqual(['bob@dest.example bounced 550 5.1.1'])
    expect((await suppressions()).map(suppression => suppression.email)).toEqual(['bob@dest.example'])
    expect(await messagesOf(shop)).toMatchObject([
      { folder: 'inbox', folder_reason: 'report', in_reply_to_email_id: null },
    ])
  })

  test('may name the email by the envelope id alone', async () => {
    await shop.mailbox('')
    const id = await sent()
    await deliver(fromAnyone(reportFixture('no-returned-message').replaceAll(fixtureId, id)), [`hello@${shop.domain}`])
    expect(await recipientsOf(id)).toEqual(['bob@dest.example bounced 550 5.1.1'])
  })

  test('counts once, together with the one at the bounce address', async () => {
    await shop.mailbox('')
    const id = await sent()
    await deliver(reportFixture('postfix'), [bounceAddress(id)])
    await deliver(naming(id), [`hello@${shop.domain}`])
    expect((await eventsOf(id)).length).toBe(1)
  })
})

const minutesAgo = (minutes: number) => formatDate(Date.now() - minutes * 60_000)

function writtenAt(report: string, minutes: number): string {
  return report
    .replace(/^Date: .*$/m, `Date: ${minutesAgo(minutes)}`)
    .replace(/^Message-ID: .*$/m, `Message-ID: <${minutes}@reporter.example>`)
}

const fixtureId = 'eml_01kq5x9m3t8v0w2y4z6a8c1d3f'

/** Our tests authenticate `a@x.test` only. */
function fromAnyone(message: string): string {
  return message.replace(/^From: .*$/m, 'From: Mail Delivery System <a@x.test>')
}

function naming(id: Id<'eml'>): string {
  return fromAnyone(reportFixture('postfix').replaceAll(fixtureId, id))
}

function permutations<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length <= 1) return [items]
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map(rest => [item, ...rest]))
}
