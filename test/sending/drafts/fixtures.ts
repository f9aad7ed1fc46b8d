import type { Call, Called } from '../../harness/http-server.ts'
import { openTestInbox, type Receiver, type TestInbox } from '../../harness/receive.ts'

/** A door with an organization whose one domain may send, and what tests of drafts ask of it. */
export interface DraftDoor {
  readonly inbox: TestInbox
  readonly acme: Receiver
  readyToSend(receiver: Receiver): Promise<void>
  call(method: string, path: string, what?: Call): Promise<Called>
  newDraft(json?: object, what?: Call): Promise<{ id: string; updated_at: string }>
  /** The fields of a draft that could be sent. */
  finished(more?: object): object
  /** Status, code and parameter. */
  refusalOf(method: string, path: string, what?: Call): Promise<unknown[]>
}

export async function openDraftDoor(): Promise<DraftDoor> {
  const inbox = await openTestInbox()
  const acme = await inbox.newReceiver()
  const call: DraftDoor['call'] = (method, path, what) => inbox.door.call(method, path, what)
  const readyToSend: DraftDoor['readyToSend'] = async ({ domainId }) => {
    const { db } = inbox.door.database
    await db.updateTable('domains').set({ status: 'verified' }).where('id', '=', domainId).execute()
  }
  await readyToSend(acme)
  return {
    inbox,
    acme,
    readyToSend,
    call,
    async newDraft(json = {}, what = {}) {
      const { status, json: made } = await call('POST', '/v1/drafts', { ...what, json })
      if (status !== 201) throw new Error(JSON.stringify(made))
      return made
    },
    finished(more = {}) {
      return { from: `Ann <ann@${acme.domain}>`, to: 'bob@b.example', subject: 'Hello', text: 'Hello Bob', ...more }
    },
    async refusalOf(method, path, what = {}) {
      const { status, json } = await call(method, path, what)
      return [status, json.error?.code, json.error?.param]
    },
  }
}
