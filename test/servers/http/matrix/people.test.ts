import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { permissions } from '../../../../src/accounts/keys/permissions.ts'
import { isScope } from '../../../../src/api/scope.ts'
import { type MatrixFixture, type MatrixPerson, type Outcome, openMatrixFixture } from './fixtures.ts'
import { type MatrixOperation, operations, requestFor } from './operations.ts'

/**
 * Every operation for every kind of signed-in person (`/app/api/v1`) and with the key that may do the same (`/v1`): both get
 * the same answer. What would change something is compared by a request that declares a body too large to be read: whoever
 * may not use the operation is refused before that (403), and whoever may is refused for it (413).
 */
let fixture: MatrixFixture

beforeAll(async () => {
  fixture = await openMatrixFixture()
}, 60_000)
afterAll(() => fixture?.close(), 60_000)

const tooLarge = 16 * 1024 * 1024 + 1
const outcome = ({ status, code, param }: Outcome) => ({ status, code, param })

/** A kind of person, and the key with the same access. */
interface Pair {
  readonly person: MatrixPerson
  readonly key: string
}

async function manager(role: 'owner' | 'admin'): Promise<Pair> {
  const person = await fixture.signIn(fixture.organizationId, { role })
  return { person, key: await fixture.newKey(person.memberId ? { makerId: person.memberId } : {}) }
}

async function memberWith(granted: readonly (typeof permissions)[number][], brandId: string): Promise<Pair> {
  const access = { role: 'member', brandIds: [brandId], permissions: granted } as const
  const person = await fixture.signIn(fixture.organizationId, access)
  return { person, key: await fixture.newKey({ scopes: scopesAmong(granted), brandId }) }
}

const scopesAmong = (granted: readonly string[]) => granted.filter(isScope)

async function both(operation: MatrixOperation, { person, key }: Pair): Promise<readonly [Outcome, Outcome]> {
  const request = requestFor(operation, fixture.own)
  if (operation.method === 'GET') {
    const [ofPerson, ofKey] = [await fixture.send(request, { person }), await fixture.send(request, { key })]
    return [outcome(ofPerson), outcome(ofKey)]
  }
  const headers = { 'content-type': 'application/json' }
  return [
    await fixture.declareBody(request, tooLarge, { person, headers }),
    await fixture.declareBody(request, tooLarge, { key, headers }),
  ]
}

/** Expects the same of every operation, and gives how many of them are not refused. */
async function expectEqual(pair: Pair): Promise<number> {
  let allowed = 0
  for (const operation of operations) {
    const [ofPerson, ofKey] = await both(operation, pair)
    expect([operation.id, ofPerson]).toEqual([operation.id, ofKey])
    if (ofPerson.status !== 403) allowed++
  }
  return allowed
}

describe('what a person may do equals what the key with the same access may', () => {
  test('owner: everything', async () => {
    expect(await expectEqual(await manager('owner'))).toBe(operations.length)
  })

  test('admin: everything', async () => {
    expect(await expectEqual(await manager('admin'))).toBe(operations.length)
  })

  test.each(permissions)('member with the permission %s alone', async permission => {
    const allowed = await expectEqual(await memberWith([permission], fixture.own.brand))
    expect(allowed).toBeLessThan(operations.length / 2)
  })

  test('member with all permissions in another brand: refused for what is of this brand', async () => {
    const pair = await memberWith(permissions, fixture.otherBrand)
    await expectEqual(pair)
    for (const operation of operations) {
      const { otherBrand } = operation.row
      if (typeof otherBrand !== 'object' || !('code' in otherBrand)) continue
      const response = await fixture.send(requestFor(operation, fixture.own), { person: pair.person })
      expect([operation.id, outcome(response)]).toEqual([
        operation.id,
        { status: 403, code: otherBrand.code, param: otherBrand.param },
      ])
    }
  })

  test('owner of another organization: finds nothing of this one', async () => {
    const person = await fixture.signIn(fixture.otherOrganizationId, { role: 'owner' })
    for (const operation of operations) {
      if (!operation.row.path) continue
      const request = requestFor(operation, fixture.own)
      const [ofPerson, ofKey] = [
        await fixture.send(request, { person }),
        await fixture.send(request, { key: fixture.otherOrganizationKey }),
      ]
      expect([operation.id, outcome(ofPerson)]).toEqual([operation.id, outcome(ofKey)])
      expect([operation.id, ofPerson.status]).toEqual([operation.id, 404])
      const named = await fixture.send(request, { person: { ...person, organizationId: fixture.organizationId } })
      expect([operation.id, named.status, named.code]).toEqual([operation.id, 404, 'not_found'])
    }
  })

  test('operator who is no member: nothing of any organization', async () => {
    const person = await fixture.signIn(null, { role: 'owner' }, { isOperator: true })
    for (const operation of operations) {
      const request = requestFor(operation, fixture.own)
      const unnamed = await fixture.send(request, { person })
      expect([operation.id, unnamed.code]).toEqual([operation.id, 'organization_required'])
      const named = await fixture.send(request, { person: { ...person, organizationId: fixture.organizationId } })
      expect([operation.id, named.status, named.code]).toEqual([operation.id, 404, 'not_found'])
    }
  })

  test('nobody: nothing', async () => {
    const nobody = { cookie: 'x', memberId: null, organizationId: fixture.organizationId }
    for (const operation of operations) {
      const response = await fixture.send(requestFor(operation, fixture.own), { person: nobody })
      expect([operation.id, response.code]).toEqual([operation.id, 'session_required'])
    }
  })
})

test('who presented their last factor long ago changes no access and deletes no domain', async () => {
  const { organizationId } = fixture
  const person = await fixture.signIn(organizationId, { role: 'owner' }, { isConfirmed: false })
  const headers = { 'content-type': 'application/json' }
  const refused: string[] = []
  for (const operation of operations.filter(({ method }) => method !== 'GET')) {
    const { code } = await fixture.declareBody(requestFor(operation, fixture.own), tooLarge, { person, headers })
    if (code === 'confirmation_required') refused.push(operation.id)
  }
  expect(refused.sort()).toEqual([
    'createInvitation',
    'createWebhook',
    'deleteDomain',
    'removeMember',
    'revokeInvitation',
    'rotateWebhookSecret',
    'updateInvitation',
    'updateMember',
    'updateWebhook',
  ])
})

describe('an owner who confirmed lately does everything by the dashboard', () => {
  let owner: MatrixPerson
  beforeAll(async () => {
    owner = await fixture.signIn(fixture.organizationId, { role: 'owner' })
  })

  test.each(operations.map(operation => [operation.id, operation] as const))('%s', async (_, operation) => {
    const response = await fixture.send(requestFor(operation, fixture.own), { person: owner })
    expect(outcome(response)).toEqual({ status: operation.row.status, code: undefined, param: undefined })
  })
})
