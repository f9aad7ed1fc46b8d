import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../../src/base/clock.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { receivedMessages } from '../../../src/inbox/reply/received-messages.ts'
import { openTextWorker } from '../../../src/inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import type { SendDeps } from '../../../src/sending/accept/open-sending.ts'
import { createDraft } from '../../../src/sending/drafts/drafts.ts'
import { sendDraft } from '../../../src/sending/drafts/send.ts'
import { send } from '../../../src/sending/send.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { until } from '../../harness/until.ts'
import { makeOrganization, sendingOn } from '../fixtures.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

test('sends a draft once when all who send it are accepted in one transaction', async () => {
  const { db } = database
  const acme = await makeOrganization(db)
  const texts = openTextWorker()
  const received = receivedMessages({ db, blobs: mysqlBlobs(db, systemClock), texts })
  const fields = { from: 'ann@acme.example', to: 'bob@b.example', subject: 'Once', text: 'Hello' }
  const { id } = await createDraft({ db, clock: systemClock, received }, acme.sender, fields)

  let waiting = 0
  const { acceptor, ...others } = sendingOn(db)
  const sending: SendDeps = {
    ...others,
    acceptor: {
      checkAndEnqueue(candidate) {
        waiting++
        return acceptor.checkAndEnqueue(candidate)
      },
      acceptTogether: (candidates, conclude) => acceptor.acceptTogether(candidates, conclude),
    },
  }
  const sends: Promise<unknown>[] = []
  await db.transaction().execute(async tx => {
    // The first waits for the domain's row; the others gather behind it and share the next transaction.
    await tx.selectFrom('domains').select('id').where('id', '=', acme.domainId).forUpdate().execute()
    sends.push(send({ sender: acme.sender, fields: { ...fields, subject: 'First' } }, sending))
    await until(() => waiting === 1)
    for (let i = 0; i < 20; i++) sends.push(sendDraft({ sending, received }, acme.sender, id))
    await until(() => waiting === 21)
  })
  const [first, ...drafts] = await Promise.allSettled(sends)
  expect(first?.status).toBe('fulfilled')
  expect(drafts.filter(sent => sent.status === 'fulfilled')).toHaveLength(1)
  for (const sent of drafts)
    if (sent.status === 'rejected') {
      expect(sent.reason).toBeInstanceOf(Refusal)
      expect(sent.reason.code).toBe('not_found')
    }
  const emails = await db.selectFrom('emails').select('id').where('subject', '=', 'Once').execute()
  expect(emails).toHaveLength(1)
  expect(await db.selectFrom('drafts').select('id').execute()).toEqual([])
  texts.close()
})
