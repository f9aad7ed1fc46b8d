import { type Clock, instantAt, systemClock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'
import type { DatabaseSchema } from '../../src/base/database/schema.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { openSending, type SendDeps } from '../../src/sending/accept/open-sending.ts'
import type { AuthorizedSender } from '../../src/sending/accept/sender.ts'

/** An organization with one brand and one domain that may send. */
export interface Organization {
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly domainId: Id<'dom'>
  readonly domain: string
  readonly sender: AuthorizedSender
}

export async function makeOrganization(
  db: Db,
  {
    plan = 'unlimited',
    domain = 'acme.example',
  }: { plan?: DatabaseSchema['organizations']['plan']; domain?: string } = {},
): Promise<Organization> {
  const organizationId = newId('org')
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: 'Acme', plan, created_at: systemClock.now() })
    .execute()
  const made = await makeDomain(db, organizationId, domain)
  return { organizationId, ...made, domain, sender: { organizationId, brandId: null, keyId: null } }
}

/** One more brand, with a domain of its own. */
export async function makeDomain(
  db: Db,
  organizationId: Id<'org'>,
  domain: string,
  status: DatabaseSchema['domains']['status'] = 'verified',
) {
  const [brandId, domainId, at] = [newId('brd'), newId('dom'), systemClock.now()]
  await db
    .insertInto('brands')
    .values({
      id: brandId,
      organization_id: organizationId,
      name: domain.slice(0, 120),
      slug: brandId.slice(4),
      status: 'pending',
      created_at: at,
      updated_at: at,
    })
    .execute()
  await db
    .insertInto('domains')
    .values({
      id: domainId,
      organization_id: organizationId,
      brand_id: brandId,
      domain,
      status,
      ownership_verified: 1,
      provider_error: null,
      last_checked_at: null,
      created_at: at,
    })
    .execute()
  return { brandId, domainId }
}

export async function suppress(
  db: Db,
  { organizationId, brandId }: Organization,
  email: string,
  reason: DatabaseSchema['suppressions']['reason'] = 'manual',
  expiresAt: DatabaseSchema['suppressions']['expires_at'] = null,
): Promise<void> {
  await db
    .insertInto('suppressions')
    .values({
      id: newId('sup'),
      organization_id: organizationId,
      brand_id: brandId,
      email,
      reason,
      source_email_id: null,
      evidence: null,
      created_at: systemClock.now(),
      expires_at: expiresAt,
    })
    .execute()
}

/** A clock that stands still. */
export function stoppedClock(iso: string): Clock {
  const at = instantAt(Date.parse(iso) * 1000)
  return { now: () => at }
}

export function sendingOn(db: Db, clock: Clock = systemClock, wake: () => void = () => undefined): SendDeps {
  return openSending({
    db,
    blobs: mysqlBlobs(db, clock),
    clock,
    provider: 'sandbox',
    publicUrl: 'https://mail.acme.example',
    wake,
  })
}
