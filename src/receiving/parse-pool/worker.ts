import type { MessageSource } from '../../mail/message-source.ts'
import { mailauthAuthenticator } from '../../ports/authenticator/mailauth.ts'
import type { AuthenticationInput, Authenticator, Verdicts } from '../../ports/authenticator/port.ts'
import type { DnsAnswer, LookupOptions, RecordData, RecordType, Resolver } from '../../ports/resolver/port.ts'
import { type FilingSummary, parseForFiling } from '../parse.ts'

// What runs on a thread of its own: checking and taking apart messages that are too large for the event loop.

export type Task =
  | { readonly kind: 'authenticate'; readonly what: AuthenticationInput }
  | { readonly kind: 'outline'; readonly content: MessageSource }

export interface Results {
  readonly authenticate: Verdicts
  readonly outline: FilingSummary
}

export type ToWorker =
  | { readonly kind: 'start'; readonly hostname: string; readonly messageTimeoutMs: number }
  | { readonly kind: 'task'; readonly id: number; readonly task: Task }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: DnsAnswer<unknown> }

export type FromWorker =
  | { readonly kind: 'done'; readonly id: number; readonly result: Results[Task['kind']] }
  | { readonly kind: 'failed'; readonly id: number; readonly error: Error }
  | { readonly kind: 'question'; readonly id: number; readonly name: string; readonly type: RecordType }

declare const self: {
  postMessage(message: FromWorker): void
  onmessage: ((event: { readonly data: ToWorker }) => void) | null
}

const questions = new Map<number, (answer: DnsAnswer<unknown>) => void>()
let lastQuestion = 0

/** Asks the resolver of the main thread, where the cache is. */
const resolver: Resolver = {
  resolve<Type extends RecordType>(name: string, type: Type, { signal }: LookupOptions = {}) {
    return new Promise<DnsAnswer<RecordData[Type]>>(resolve => {
      const id = ++lastQuestion
      const finish = (answer: DnsAnswer<unknown>) => {
        questions.delete(id)
        signal?.removeEventListener('abort', giveUp)
        resolve(answer as DnsAnswer<RecordData[Type]>)
      }
      const giveUp = () => finish({ kind: 'failed', why: 'out of time' })
      if (signal?.aborted) return giveUp()
      questions.set(id, finish)
      signal?.addEventListener('abort', giveUp)
      self.postMessage({ kind: 'question', id, name, type })
    })
  },
}

let authenticator: Authenticator | undefined

function run(task: Task): Promise<Results[Task['kind']]> {
  switch (task.kind) {
    case 'authenticate':
      if (!authenticator) throw new Error('a task came before the start')
      return authenticator.authenticate({ ...task.what, content: received(task.what.content) })
    case 'outline':
      return parseForFiling(received(task.content))
    default:
      return task satisfies never
  }
}

/** A Buffer arrives as a plain Uint8Array. */
function received(content: MessageSource): MessageSource {
  if (content.kind === 'file') return content
  const { buffer, byteOffset, byteLength } = content.bytes
  return { ...content, bytes: Buffer.from(buffer, byteOffset, byteLength) }
}

self.onmessage = ({ data }) => {
  switch (data.kind) {
    case 'start':
      authenticator = mailauthAuthenticator({ ...data, resolver })
      return
    case 'answer':
      questions.get(data.id)?.(data.answer)
      return
    case 'task':
      Promise.try(run, data.task).then(
        result => self.postMessage({ kind: 'done', id: data.id, result }),
        (error: unknown) =>
          self.postMessage({
            kind: 'failed',
            id: data.id,
            error: error instanceof Error ? error : new Error(String(error)),
          }),
      )
      return
    default:
      data satisfies never
  }
}
