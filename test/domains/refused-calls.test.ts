import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Id } from '../../src/base/ids.ts'
import { toZoneRecord } from '../../src/domains/dns/records.ts'
import { batchedClaimLookups, findRecipient } from '../../src/receiving/recipient.ts'
import { openZoneServer, type ZoneServer } from './dns/fixtures.ts'
import { breakName } from './fixtures.ts'

let server: ZoneServer
beforeAll(async () => {
  server = await openZoneServer()
})
afterAll(() => server.close())

const get = async (id: string) => (await server.call('GET', `/v1/domains/${id}`)).json
const post = (id: string, operation: string) => server.call('POST', `/v1/domains/${id}/${operation}`)

/** What the SMTP server replies to a recipient at this domain. */
async function replyTo(domain: string): Promise<unknown> {
  const { db } = server.database
  const deps = { db, findClaims: batchedClaimLookups(db), hasDiskSpace: () => true }
  return findRecipient(`hello@${domain}`, deps).then(
    () => 250,
    (error: { readonly code?: string }) => error.code,
  )
}

/** A domain that sends and receives. */
async function liveDomain(domain: string): Promise<string> {
  const id = await server.register(domain)
  expect((await post(id, 'publish-dns')).status).toBe(200)
  await server.call('POST', '/v1/mailboxes', { json: { domain_id: id, local_part: 'hello' } })
  for (const step of ['identity', 'mx'] as const) {
    const { identity, mx } = (await post(id, 'receiving')).json
    for (const record of step === 'mx' ? [mx.record] : identity.dns_records)
      await server.zone.create(toZoneRecord(record), null)
  }
  expect((await post(id, 'receiving')).json.live).toBe(true)
  expect((await post(id, 'check')).json).toMatchObject({ ready_to_send: true, ownership_verified: true })
  return id
}

/** The domain's owner removes the ownership record. */
async function disown(domain: string): Promise<void> {
  for (const proof of await server.zone.recordsAt(`_mailroom.${domain}`)) await server.zone.remove(proof.id)
}

/** From now on DNS fails for the ownership record. */
async function breakOwnership(domain: string): Promise<void> {
  const [proof] = await server.zone.recordsAt(`_mailroom.${domain}`)
  if (!proof) throw new Error('no proof')
  const away = `_mailroom.${domain}.example`
  await server.zone.update(proof.id, { ...proof, type: 'CNAME', value: away }, null)
  breakName(server.dns, away)
}

const losses = [
  ['is missing', disown, 422, 'ownership_not_verified'],
  ['cannot be looked up', breakOwnership, 500, 'dns_unavailable'],
] as const

describe.each(losses)('when the ownership record %s', (words, lose, status, code) => {
  const domain = `${words.replaceAll(' ', '-')}.test`
  let id: string
  let before: object
  beforeAll(async () => {
    id = await liveDomain(domain)
    // A record that is wrong by now: a check that counted would stop sending.
    const [dkim] = (await get(id)).dns_records
    const [published] = await server.zone.recordsAt(dkim.name)
    await server.zone.remove(published?.id ?? '')
    before = await get(id)
    await lose(domain)
  })

  test.each(['check', 'provision', 'publish-dns', 'check'])('%s is refused and changes nothing', async operation => {
    const refused = await post(id, operation)
    expect([refused.status, refused.json.error.code]).toEqual([status, code])
    expect(await get(id)).toEqual(before)
  })

  test('record operations are refused and change nothing', async () => {
    const json = { type: 'A', name: 'www', value: '192.0.2.1' }
    const refused = await server.call('POST', `/v1/domains/${id}/dns/records`, { json })
    expect([refused.status, refused.json.error.code]).toEqual([status, code])
    expect(await get(id)).toEqual(before)
  })

  test('receiving answers 200 and says what SMTP does: the domain is live', async () => {
    const answer = await post(id, 'receiving')
    expect([answer.status, answer.json.live, answer.json.next_step]).toEqual([200, true, undefined])
    expect(await replyTo(domain)).toBe(250)
    expect(await get(id)).toMatchObject({ ready_to_send: true, status: 'verified', receiving: { live: true } })
    const { data } = (await server.call('GET', '/v1/mailboxes')).json
    expect(data.find((mailbox: { domain_id: string }) => mailbox.domain_id === id)).toMatchObject({ live: true })
  })

  test('a mailbox is created, and lives', async () => {
    const created = await server.call('POST', '/v1/mailboxes', { json: { domain_id: id, local_part: 'later' } })
    expect([created.status, created.json]).toMatchObject([201, { live: true, receiving: { live: true } }])
  })
})

test('where nothing was live, receiving without the ownership record names it as the next step, as does what follows', async () => {
  const claimed = await server.register('claimed.test')
  expect((await post(claimed, 'receiving')).json.next_step).toBe('identity')
  const unclaimed = await server.register('unclaimed.test')
  for (const [id, domain] of [
    [claimed, 'claimed.test'],
    [unclaimed, 'unclaimed.test'],
  ] as const) {
    await disown(domain)
    const answer = await post(id, 'receiving')
    expect([answer.status, answer.json]).toMatchObject([200, { live: false, next_step: 'ownership' }])
    expect(await get(id)).toMatchObject({
      ownership_verified: false,
      receiving: { live: false, next_step: 'ownership' },
    })
    expect(await replyTo(domain)).not.toBe(250)
    await server.own(domain)
    expect((await post(id, 'receiving')).json).toMatchObject({ live: false, next_step: 'identity' })
  }
})

test('where only the MX record is missing, a lost ownership record changes nothing', async () => {
  const id = await liveDomain('elsewhere.test')
  const [mx] = (await server.zone.recordsAt('elsewhere.test')).filter(record => record.type === 'MX')
  await server.zone.remove(mx?.id ?? '')
  expect((await post(id, 'receiving')).json).toMatchObject({ live: false, next_step: 'mx' })
  await disown('elsewhere.test')
  expect((await post(id, 'receiving')).json).toMatchObject({ live: false, next_step: 'mx' })
})

test('receiving is independent of sending: a call to it changes nothing there', async () => {
  const id = await liveDomain('apart.test')
  const { db } = server.database
  // Found missing by one recheck, which does not count yet.
  const records = db.updateTable('domain_records').set({ status: 'pending' })
  await records
    .where('domain_id', '=', id as Id<'dom'>)
    .where('purpose', '=', 'dkim')
    .execute()
  for (const operation of ['receiving', 'receiving'])
    expect((await post(id, operation)).json).toMatchObject({ live: true })
  expect(await get(id)).toMatchObject({ ready_to_send: true, status: 'verified' })
})

test('a claim that is refused changes nothing', async () => {
  const id = await server.register('claimed-elsewhere.test')
  const organizationId = await server.newOrganization()
  const { key } = await server.newKey({ organizationId })
  const { json: brand } = await server.call('POST', '/v1/brands', { key, json: { name: 'B', slug: 'b' } })
  const theirs = await server.register('claimed-elsewhere.test', { organizationId, brandId: brand.id, key })
  expect((await server.call('POST', `/v1/domains/${theirs}/receiving`, { key })).status).toBe(200)
  const before = await get(id)
  const refused = await post(id, 'receiving')
  expect([refused.status, refused.json.error.code]).toEqual([409, 'receiving_claimed'])
  expect(await get(id)).toEqual(before)
})
