import { expect, test } from 'bun:test'
import { type Id, newId } from '../base/ids.ts'
import type { InboundRecipient } from './incoming-message.ts'
import { sessionRecipients } from './session-recipients.ts'
import { refuseMail } from './smtp-refusal.ts'

/** Mailboxes of one organization, by address, and how often each was looked up. */
function mailboxes(...addresses: readonly string[]) {
  const ids = new Map<string, Id<'mbx'>>(addresses.map(address => [address, newId('mbx')]))
  const lookups: string[] = []
  const owner = { organizationId: newId('org'), brandId: newId('brd'), domainId: newId('dom') }
  const find = async (address: string): Promise<InboundRecipient> => {
    lookups.push(address)
    const mailboxId = ids.get(address)
    if (!mailboxId) throw refuseMail('mailbox_unknown')
    return { ...owner, address, mailboxId }
  }
  return { ids, lookups, find: sessionRecipients(find) }
}

test('a recipient is looked up once a second, each by itself', async () => {
  const { ids, lookups, find } = mailboxes('a@x.test', 'b@x.test')
  for (const address of ['a@x.test', 'b@x.test', 'a@x.test', 'b@x.test', 'A@x.test'])
    expect((await find(address).catch(() => undefined))?.mailboxId).toBe(ids.get(address) as Id<'mbx'>)
  expect(lookups).toEqual(['a@x.test', 'b@x.test', 'A@x.test'])
  ids.delete('a@x.test')
  await Bun.sleep(1001)
  await expect(find('a@x.test')).rejects.toThrow()
  expect((await find('b@x.test')).mailboxId).toBe(ids.get('b@x.test') as Id<'mbx'>)
  expect(lookups.slice(3)).toEqual(['a@x.test', 'b@x.test'])
})

test('one that was refused is looked up again', async () => {
  const { ids, lookups, find } = mailboxes()
  await expect(find('new@x.test')).rejects.toThrow()
  ids.set('new@x.test', newId('mbx'))
  expect((await find('new@x.test')).mailboxId).toBe(ids.get('new@x.test') as Id<'mbx'>)
  expect(lookups).toHaveLength(2)
})

test('a session remembers twenty recipients at most', async () => {
  const addresses = Array.from({ length: 21 }, (_, i) => `${i}@x.test`)
  const { lookups, find } = mailboxes(...addresses)
  for (const address of [...addresses, ...addresses.slice(-1)]) await find(address)
  expect(lookups).toHaveLength(21)
  await find(addresses[0] as string)
  expect(lookups).toHaveLength(22)
})
