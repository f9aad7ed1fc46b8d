import type { KeyAuthenticator } from '../../../accounts/keys/keys.ts'
import type { Caller } from '../../../api/caller.ts'
import type { IdempotencyKeys } from '../../../api/idempotency/idempotency-keys.ts'
import type { Reservation } from '../../../api/idempotency/reservation.ts'
import { requireScopes } from '../../../api/route.ts'
import type { WeightedSemaphore } from '../../../base/concurrency/weighted-semaphore.ts'
import { isDatabaseUnavailable } from '../../../base/database/database.ts'
import { refuse } from '../../../base/refusal.ts'
import type { Address } from '../../../mail/address.ts'
import type { MessageSource } from '../../../mail/message-source.ts'
import { maxHops } from '../../../receiving/decide.ts'
import type { IncomingMessage } from '../../../receiving/incoming-message.ts'
import { refuseMail } from '../../../receiving/smtp-refusal.ts'
import { type AcceptedEmail, acceptedResponseBody } from '../../../sending/accept/accepted-response.ts'
import type { SendDeps } from '../../../sending/accept/open-sending.ts'
import { selectSuppressed } from '../../../sending/accept/table.ts'
import type { MessageReader } from '../../../sending/submission/message-reader.ts'
import { submit } from '../../../sending/submission/submit.ts'
import {
  readEnvelopeRecipient,
  readSubmittedMessage,
  type SubmittedMessage,
} from '../../../sending/submission/submitted-message.ts'
import type { ClientLimits } from '../../limits/client-limits.ts'
import type { MailService } from '../deps.ts'
import type { SubmissionRecorder } from './recorder.ts'
import { isOfKey, toSubmissionRefusal } from './refusals.ts'

/** What the submission sessions of a process share. */
export interface SubmissionDeps {
  readonly sending: SendDeps
  readonly reader: MessageReader
  readonly authenticator: KeyAuthenticator
  readonly idempotencyKeys: IdempotencyKeys
  readonly clientLimits: ClientLimits
  readonly recorder: SubmissionRecorder
  /** Bounds the bytes of the messages that are being read and composed, of all sessions. */
  readonly memory: WeightedSemaphore
  /** MAILROOM_HOSTNAME, for Received. */
  readonly hostname: string
}

/** An email that was accepted, now or at an earlier attempt with the same idempotency key. */
interface SubmittedEmail {
  readonly id: string
  readonly isReplay: boolean
}

/** A message is in memory about so many times while it is read and stored. */
const copiesInMemory = 4

/** A message that arrives longer than this is checked for the key again at its end. */
const maxAccessAgeMs = 1000

/**
 * The submission service of one session (RFC 6409): a client logs in with an API key, and what it sends goes the way of
 * POST /v1/emails. The key is looked up again for each command, so that a revoked one ends at the
 * next; one look-up is enough for commands that had all come before it.
 */
export function openSubmissionService(clientAddress: string, deps: SubmissionDeps): MailService<Address> {
  const { sending, authenticator, clientLimits, recorder } = deps
  let key: string | undefined
  let access: { readonly caller: Caller; readonly askedAt: number } | undefined

  async function authenticate(password: string): Promise<Caller> {
    // A key has no white space, and nothing else could be a header's value.
    if (!/^\S+$/.test(password)) throw refuse('invalid_api_key', { message: 'The password is not an API key.' })
    const caller = await authenticator.authenticate(`Bearer ${password}`)
    requireScopes(caller, ['email:send'])
    return caller
  }

  /** The key as it was at `since`, or later. */
  async function requireCaller(since: number): Promise<Caller> {
    if (key === undefined) throw refuseMail('auth_required')
    if (access && access.askedAt >= since) return access.caller
    const askedAt = performance.now()
    try {
      const caller = await authenticate(key)
      access = { caller, askedAt }
      return caller
    } catch (error) {
      if (isOfKey(error)) throw refuseMail('access_ended', { detail: error.message })
      throw toSubmissionRefusal(error)
    }
  }

  function requireWithinRate(caller: Caller): void {
    const status = clientLimits.countRequest(caller.organizationId)
    if (status.isAllowed) return
    const refusal = clientLimits.refuseRequest(status)
    recorder.refused({ caller, clientAddress, helo: '', startedMs: performance.now() }, refusal)
    throw toSubmissionRefusal(refusal)
  }

  async function requireUnsuppressed(brandId: NonNullable<Caller['brandId']>, { address }: Address): Promise<void> {
    const candidate = { brandId, email: address.toLowerCase() }
    const found = await selectSuppressed(sending.db, [candidate], sending.clock.now())
    if (found.some(recipient => !recipient.isUnsubscribed))
      throw refuseMail('recipient_suppressed', { detail: `${address} is on the suppression list of the brand` })
  }

  async function receiveFor(caller: Caller, mail: IncomingMessage<Address>): Promise<SubmittedEmail> {
    const release = await deps.memory.acquire(mail.content.size * copiesInMemory)
    try {
      const now = sending.clock.now()
      const message = await readSubmittedMessage(await bytesOf(mail.content), mail.recipients, { ...deps, now })
      if (message.hops >= maxHops) throw refuseMail('mail_loop')
      const received = `by ${deps.hostname} with ${mail.tls === null ? 'ESMTPA' : 'ESMTPSA'}`
      return await once(message, caller, reservation => {
        mail.signal.throwIfAborted()
        return submit({ sender: caller, message, reservation, received }, sending)
      })
    } finally {
      release()
    }
  }

  /** Sends the message, unless one with the same idempotency key was sent: then that is the answer. */
  async function once(
    { idempotency }: SubmittedMessage,
    caller: Caller,
    send: (reservation: Reservation | undefined) => Promise<AcceptedEmail>,
  ): Promise<SubmittedEmail> {
    if (idempotency === null) return { id: (await send(undefined)).id, isReplay: false }
    const request = { caller, method: 'SMTP', target: 'submission', body: idempotency.digest }
    const reserved = await deps.idempotencyKeys.reserve(idempotency.key, request)
    if (!('token' in reserved)) return { id: readId(reserved.body), isReplay: true }
    let accepted: AcceptedEmail | undefined
    try {
      accepted = await send(reserved)
      return { id: accepted.id, isReplay: false }
    } finally {
      const body = accepted && acceptedResponseBody(accepted)
      await deps.idempotencyKeys.settle(reserved, accepted ? 202 : 500, async () => body ?? '')
    }
  }

  return {
    acceptedAs: 'queued as',
    authentication: {
      async logIn(password) {
        try {
          await authenticate(password)
          key = password
        } catch (error) {
          if (isDatabaseUnavailable(error)) throw refuseMail('auth_unavailable', { cause: error })
          if (!isOfKey(error)) throw toSubmissionRefusal(error)
          requireFewFailures(clientLimits, clientAddress)
          throw refuseMail('auth_failed', { detail: error.message })
        }
      },
      async requireAccess(command, receivedAt) {
        const caller = await requireCaller(receivedAt)
        if (command === 'MAIL') requireWithinRate(caller)
      },
    },
    async findRecipient(text, receivedAt) {
      const address = readRecipient(text)
      const { brandId } = await requireCaller(receivedAt)
      // Without a brand of the key it is From that tells the brand.
      if (brandId !== null) await requireUnsuppressed(brandId, address)
      return address
    },
    async receive(mail) {
      const caller = await requireCaller(performance.now() - maxAccessAgeMs)
      const request = { caller, clientAddress, helo: mail.helo, startedMs: performance.now() }
      try {
        const email = await receiveFor(caller, mail)
        recorder.accepted(request, email)
        return { id: email.id }
      } catch (error) {
        recorder.refused(request, error)
        throw toSubmissionRefusal(error)
      }
    },
  }
}

function requireFewFailures(clientLimits: ClientLimits, clientAddress: string): void {
  try {
    clientLimits.countFailure(clientAddress)
  } catch (error) {
    throw refuseMail('too_many_logins', { cause: error })
  }
}

function readRecipient(text: string): Address {
  try {
    return readEnvelopeRecipient(text)
  } catch (error) {
    throw refuseMail('address_malformed', { cause: error })
  }
}

async function bytesOf(content: MessageSource): Promise<Buffer> {
  return content.kind === 'memory' ? content.bytes : Buffer.from(await Bun.file(content.path).arrayBuffer())
}

function readId(responseBody: string): string {
  const { id } = JSON.parse(responseBody) as { readonly id: string }
  return id
}
