import { edenGC } from 'bun:jsc'
import { serveTasks } from '../../base/concurrency/worker-tasks.ts'
import type { MessageSource } from '../../mail/message-source.ts'
import { type MailauthOptions, mailauthAuthenticator } from '../../ports/authenticator/mailauth/mailauth.ts'
import type { AuthenticationInput, Verdicts } from '../../ports/authenticator/port.ts'
import type { DnsAnswer, LookupOptions, RecordData, RecordType, Resolver } from '../../ports/resolver/port.ts'
import { type FilingSummary, parseForFiling, type UnparsedMessage } from '../parse.ts'

// What a worker of the parse pool does with messages that are too large for the event loop.

export interface AuthenticationTask {
  readonly message: AuthenticationInput
  readonly options: Omit<MailauthOptions, 'resolver'>
}

export interface DnsQuestion {
  readonly name: string
  readonly type: RecordType
}

type LookUp = (question: DnsQuestion) => Promise<DnsAnswer<RecordData[RecordType]>>

const tasks = {
  authenticate({ message, options }: AuthenticationTask, lookUp: LookUp): Promise<Verdicts> {
    const authenticator = mailauthAuthenticator({ ...options, resolver: resolverOver(lookUp) })
    return authenticator.authenticate({ ...message, content: withBuffer(message.content) })
  },
  async parse({ content, envelope }: UnparsedMessage): Promise<FilingSummary> {
    try {
      return await parseForFiling({ content: withBuffer(content), envelope })
    } finally {
      // It leaves as many bytes as the message has, and the heap would grow by several messages before they are collected.
      edenGC()
    }
  },
}

export type ParseTasks = typeof tasks

/** The resolver of the main thread, where the cache is. */
function resolverOver(lookUp: LookUp): Resolver {
  return {
    resolve<Type extends RecordType>(name: string, type: Type, { signal }: LookupOptions = {}) {
      return new Promise<DnsAnswer<RecordData[Type]>>((resolve, reject) => {
        const giveUp = () => resolve({ kind: 'failed', why: 'out of time' })
        if (signal?.aborted) return giveUp()
        signal?.addEventListener('abort', giveUp)
        lookUp({ name, type })
          .then(answer => resolve(answer as DnsAnswer<RecordData[Type]>), reject)
          .finally(() => signal?.removeEventListener('abort', giveUp))
      })
    },
  }
}

/** A Buffer arrives in a worker as a plain Uint8Array. */
function withBuffer(content: MessageSource): MessageSource {
  if (content.kind === 'file') return content
  const { buffer, byteOffset, byteLength } = content.bytes
  return { ...content, bytes: Buffer.from(buffer, byteOffset, byteLength) }
}

serveTasks(tasks)
