import type { CallOptions, CallResult } from '../../harness/http-server.ts'
import { openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'

/** An HTTP server with an organization whose one domain may send, and the requests of draft tests. */
export interface DraftServer {
  readonly inbox: TestInbox
  readonly acme: ReceivingDomain
  readyToSend(receiver: ReceivingDomain): Promise<void>
  call(method: string, path: string, what?: CallOptions): Promise<CallResult>
  newDraft(json?: object, what?: CallOptions): Promise<{ id: string; updated_at: string }>
  /** The fields of a draft that is complete. */
  complete(more?: object): object
  /** Status, code and parameter. */
  refusalOf(method: string, path: string, what?: CallOptions): Promise<unknown[]>
}

export async function openDraftServer(): Promise<DraftServer> {
  const inbox = await openTestInbox()
  const acme = await inbox.createReceivingDomain()
  const call: DraftServer['call'] = (method, path, what) => inbox.server.call(method, path, what)
  const readyToSend: DraftServer['readyToSend'] = async ({ domainId }) => {
    const { db } = inbox.server.database
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
    complete(more = {}) {
      return { from: `Ann <ann@${acme.domain}>`, to: 'bob@b.example', subject: 'Hello', text: 'Hello Bob', ...more }
    },
    async refusalOf(method, path, what = {}) {
      const { status, json } = await call(method, path, what)
      return [status, json.error?.code, json.error?.param]
    },
  }
}
