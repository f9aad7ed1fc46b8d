import { systemClock } from '../../../../src/base/clock.ts'
import type { Db } from '../../../../src/base/database/database.ts'
import { type Id, newId } from '../../../../src/base/ids.ts'
import { localZone } from '../../../../src/ports/dns-zone/local/local.ts'
import type { ZoneRecord } from '../../../../src/ports/dns-zone/port.ts'
import { acceptedMessageId, sendMail } from '../../../harness/smtp-delivery.ts'

/** One resource of each kind, all of one brand; by the identifier, slug or address in a path. */
export interface Resources {
  readonly domainName: string
  /** A domain name with proven ownership that is not registered. */
  readonly provenName: string
  readonly brand: string
  readonly domain: string
  readonly mailbox: string
  /** A second mailbox, to be deleted. */
  readonly spareMailbox: string
  /** A domain without dependents, to be deleted. */
  readonly spareDomain: string
  readonly record: string
  readonly message: string
  readonly attachment: string
  readonly email: string
  readonly sentAttachment: string
  readonly scheduled: string
  readonly template: string
  readonly draft: string
  /** A complete draft, to be sent. */
  readonly finished: string
  readonly suppressed: string
  readonly member: string
  readonly invitation: string
  readonly webhook: string
  /** A webhook to be deleted. */
  readonly spareWebhook: string
  readonly delivery: string
}

export type ResourceKind = Exclude<keyof Resources, 'domainName' | 'provenName'>

/** Well-formed identifiers that do not exist. */
export const unknownIds: Readonly<Record<ResourceKind, string>> = {
  brand: 'brd_00000000000000000000000000',
  domain: 'dom_00000000000000000000000000',
  spareDomain: 'dom_00000000000000000000000000',
  mailbox: 'mbx_00000000000000000000000000',
  spareMailbox: 'mbx_00000000000000000000000000',
  record: 'rec_00000000000000000000000000',
  message: 'msg_00000000000000000000000000',
  attachment: 'att_00000000000000000000000000',
  email: 'eml_00000000000000000000000000',
  sentAttachment: 'att_00000000000000000000000000',
  scheduled: 'eml_00000000000000000000000000',
  template: 'nothing-of-this-name',
  draft: 'drf_00000000000000000000000000',
  finished: 'drf_00000000000000000000000000',
  suppressed: 'nobody@nowhere.test',
  member: 'mem_00000000000000000000000000',
  invitation: 'inv_00000000000000000000000000',
  webhook: 'whk_00000000000000000000000000',
  spareWebhook: 'whk_00000000000000000000000000',
  delivery: 'whd_00000000000000000000000000',
}

/** Calls the API with a key. Returns the JSON of the 2xx response. */
// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
export type Api = (method: string, path: string, body?: object) => Promise<any>

/** Creates one resource of each kind under a new brand, through the API where it has an operation to create it. */
export async function createResources(api: Api, db: Db, smtpPort: number, name: string): Promise<Resources> {
  const { id: brand, organization_id } = await api('POST', '/v1/brands', { name, slug: name })
  const domainName = `${name}.test`
  const domain = await createDomain(api, db, brand, domainName)
  await enableReceiving(api, db, domain)
  const mailboxes = [{ domain_id: domain }, { domain_id: domain, local_part: 'spare' }]
  const [mailbox, spareMailbox] = await inTurn(mailboxes, mailbox => api('POST', '/v1/mailboxes', mailbox))
  const message = acceptedMessageId(await sendMail(smtpPort, messageTo(domainName), { to: [`hello@${domainName}`] }))
  const { attachments } = await api('GET', `/v1/inbox/${message}`)
  const mail = { from: `hello@${domainName}`, to: 'you@friend.test', subject: 'Hello', text: 'Hello' }
  const note = { filename: 'note.txt', content: 'QSBub3RlLg==' }
  const email = await api('POST', '/v1/emails', { ...mail, attachments: [note] })
  const sent = await api('GET', `/v1/emails/${email.id}/content`)
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  const scheduled = await api('POST', '/v1/emails', { ...mail, scheduled_at: tomorrow })
  const template = { brand_id: brand, slug: `${name}-hello`, name: 'Hello', subject: 'Hello', text: 'Hello' }
  const suppressed = `gone@${name}.example`
  await api('POST', '/v1/templates', template)
  await api('POST', '/v1/suppressions', { brand_id: brand, email: suppressed })
  const provenName = `more-${domainName}`
  await proveOwnership(api, db, brand, provenName)
  await publish(db, [{ type: 'A', name: `hooks.${domainName}`, value: '127.0.0.1', priority: null }])
  const endpoint = { url: `https://hooks.${domainName}/mailroom`, types: ['brand.paused'], brand_id: brand }
  const [webhook, spareWebhook] = await inTurn([endpoint, endpoint], one => api('POST', '/v1/webhooks', one))
  const record = { type: 'A', name: `www.${domainName}`, value: '192.0.2.1' }
  return {
    domainName,
    provenName,
    brand,
    domain,
    mailbox: mailbox.id,
    spareMailbox: spareMailbox.id,
    spareDomain: await createDomain(api, db, brand, `spare-${domainName}`),
    record: (await api('POST', `/v1/domains/${domain}/dns/records`, record)).id,
    message,
    attachment: attachments[0].id,
    email: email.id,
    sentAttachment: sent.attachments[0].id,
    scheduled: scheduled.id,
    template: template.slug,
    draft: (await api('POST', '/v1/drafts', { subject: 'Unfinished' })).id,
    finished: (await api('POST', '/v1/drafts', mail)).id,
    suppressed,
    member: await createMember(db, organization_id, brand, `${name}@people.test`),
    invitation: (await api('POST', '/v1/invitations', { brand_ids: [brand], permissions: ['email:read'] })).id,
    webhook: webhook.id,
    spareWebhook: spareWebhook.id,
    delivery: await createDelivery(db, organization_id, webhook.id),
  }
}

async function inTurn<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await work(item))
  return results
}

async function proveOwnership(api: Api, db: Db, brand: string, name: string): Promise<void> {
  const { ownership } = await api('GET', `/v1/domains/ownership?domain=${name}&brand_id=${brand}`)
  await publish(db, [ownership.record])
}

/** Creates a verified domain. */
async function createDomain(api: Api, db: Db, brand: string, name: string): Promise<string> {
  await proveOwnership(api, db, brand, name)
  const domain = await api('POST', '/v1/domains', { brand_id: brand, domain: name })
  await publish(db, domain.dns_records)
  await api('POST', `/v1/domains/${domain.id}/check`)
  return domain.id
}

async function enableReceiving(api: Api, db: Db, domain: string): Promise<void> {
  for (;;) {
    const { live, next_step, mx, identity } = await api('POST', `/v1/domains/${domain}/receiving`)
    if (live) return
    await publish(db, next_step === 'mx' ? [mx.record] : identity.dns_records)
  }
}

type ZoneRecordJson = Omit<ZoneRecord, 'ttlSeconds'>

/** Publishes records in the local zone. */
async function publish(db: Db, records: readonly ZoneRecordJson[]): Promise<void> {
  const provider = localZone(db, systemClock)
  for (const { type, name, value, priority } of records) {
    const zone = await provider.findZone(name)
    await zone?.create({ type, name, value, priority, ttlSeconds: 300 }, null)
  }
}

async function createMember(db: Db, organizationId: Id<'org'>, brand: string, email: string): Promise<string> {
  const id = newId('mem')
  await db
    .insertInto('members')
    .values({
      id,
      organization_id: organizationId,
      email,
      name: 'Somebody',
      role: 'member',
      permissions: 'email:read',
      created_at: systemClock.now(),
      last_active_at: null,
    })
    .execute()
  await db
    .insertInto('member_brands')
    .values({ member_id: id, brand_id: brand as Id<'brd'> })
    .execute()
  return id
}

/** A delivery that was made. */
async function createDelivery(db: Db, organizationId: Id<'org'>, webhook: string): Promise<string> {
  const id = newId('whd')
  await db
    .insertInto('webhook_deliveries')
    .values({
      id,
      webhook_id: webhook as Id<'whk'>,
      organization_id: organizationId,
      brand_id: null,
      sequence: 1,
      event_id: newId('evt'),
      type: 'brand.paused',
      status: 'delivered',
      attempt: 1,
      at: systemClock.now(),
      duration_ms: 84,
      http_status: 204,
      error: null,
      response: '',
      next_at: null,
    })
    .execute()
  return id
}

function messageTo(domainName: string): string {
  return [
    'From: Ann <ann@sender.example>',
    `To: hello@${domainName}`,
    'Subject: Hello',
    `Message-ID: <${crypto.randomUUID()}@sender.example>`,
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Hello.',
    '--b',
    'Content-Type: text/plain; name=note.txt',
    'Content-Disposition: attachment; filename=note.txt',
    '',
    'A note.',
    '--b--',
    '',
  ].join('\r\n')
}
