import { createReadStream } from 'node:fs'
import { hourMs } from '../../../base/clock.ts'
import { cachedResult } from '../../../base/concurrency/cached-result.ts'
import { newSemaphore } from '../../../base/concurrency/semaphore.ts'
import type { MessageSource } from '../../../mail/message-source.ts'
import type { LessonContent, LessonResult, SpamCheck, SpamFilter, SpamFilterInput, SpamLesson } from '../port.ts'
import { newAvailability } from './availability.ts'
import { readActions, readCheckReply } from './findings.ts'
import { askRspamd, type RspamdReply } from './http.ts'

export interface RspamdOptions {
  /** The normal worker, `http://host:port`. */
  readonly url: string
  /** The controller, which learns; null: nothing is learned. */
  readonly controller: { readonly url: string; readonly password: string | null } | null
  /** How long one check may take, with the wait for a free one. */
  readonly timeoutMs: number
  readonly maxConcurrentChecks: number
  /** Larger messages are not checked, nor learned from. */
  readonly maxBytes: number
  /** Our name. */
  readonly hostname: string
}

const fileChunkBytes = 256 * 1024
const maxPingMs = 2000

/** A {@link SpamFilter} on rspamd: `/checkv2` of its normal worker, `/learnspam` and `/learnham` of its controller. */
export function rspamdFilter(options: RspamdOptions): SpamFilter {
  const { url, controller, timeoutMs, maxBytes } = options
  const acquire = newSemaphore(options.maxConcurrentChecks)
  const isReady = () => pingRspamd(url, Math.min(timeoutMs, maxPingMs))
  const availability = newAvailability(isReady)
  const spamScore = cachedResult(hourMs, () => loadSpamScore(controller))

  async function checkInTurn(mail: SpamFilterInput, signal: AbortSignal): Promise<SpamCheck> {
    const release = await acquire(signal)
    // Whoever had the permit may have found out meanwhile that rspamd is away.
    if (!release || !availability.isAvailable()) {
      release?.()
      return unchecked(release ? away : 'too many checks at once: none was free in time', true)
    }
    try {
      const body = { size: mail.content.size, bytes: bytesOf(mail.content) }
      const fields = fieldsOf(mail, options)
      return await toCheck(await askRspamd({ base: url, path: '/checkv2', fields, body, signal }), spamScore)
    } catch (error) {
      availability.failed()
      return unchecked(reasonOf(error), true)
    } finally {
      release()
    }
  }

  return {
    async check(mail) {
      if (mail.content.size === 0) return unchecked('the message is empty', false)
      if (mail.content.size > maxBytes) return unchecked(`the message is larger than ${maxBytes} bytes`, false)
      if (!availability.isAvailable()) return unchecked(away, true)
      return await withDeadline(timeoutMs, signal => checkInTurn(mail, signal))
    },

    learn:
      controller &&
      (async (lesson, content, signal) => {
        if (content.size === 0) return { kind: 'refused', why: 'the message is empty' }
        if (content.size > maxBytes) return { kind: 'refused', why: `the message is larger than ${maxBytes} bytes` }
        const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
        return await learn(controller, lesson, content, deadline)
      }),

    isReady,
  }
}

/** Does the worker or the controller at this URL answer `/ping`? Never rejects. */
export async function pingRspamd(base: string, maxMs: number): Promise<boolean> {
  try {
    const request = { base, path: '/ping', fields: [], body: null }
    const { status } = await withDeadline(maxMs, signal => askRspamd({ ...request, signal }))
    return status === 200
  } catch {
    return false
  }
}

async function learn(
  controller: NonNullable<RspamdOptions['controller']>,
  lesson: SpamLesson,
  content: LessonContent,
  signal: AbortSignal,
): Promise<LessonResult> {
  const request = { base: controller.url, path: `/learn${lesson}`, fields: passwordField(controller), body: content }
  try {
    return toLessonResult(await askRspamd({ ...request, signal }))
  } catch (error) {
    return { kind: 'unavailable', why: reasonOf(error) }
  }
}

/** The field that the controller asks for, where it asks for a password. */
export function passwordField({ password }: { readonly password: string | null }) {
  return password === null ? [] : [['Password', password] as const]
}

const away = 'rspamd does not answer'

function unchecked(why: string, isUnavailable: boolean): SpamCheck {
  return { kind: 'unchecked', why, isUnavailable }
}

async function withDeadline<Result>(ms: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), ms)
  try {
    return await work(deadline.signal)
  } finally {
    clearTimeout(timer)
  }
}

function bytesOf(content: MessageSource): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  return content.kind === 'memory' ? [content.bytes] : readChunks(content.path)
}

/** Opens the file once the first chunk is asked for, and closes it with the last, or when no more are. */
async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path, { highWaterMark: fileChunkBytes })) yield chunk as Buffer
}

/**
 * Greylisting is off for our checks: nobody would come again, and rspamd would ask for a `soft reject` of what it takes for spam.
 */
const settings = JSON.stringify({ symbols_disabled: ['GREYLIST_CHECK', 'GREYLIST_SAVE'] })

/** The facts of the transaction, in the fields that rspamd reads. */
function fieldsOf(mail: SpamFilterInput, { hostname }: RspamdOptions): readonly (readonly [string, string])[] {
  return [
    ['Queue-Id', mail.id],
    ['Settings', settings],
    ['MTA-Name', hostname],
    ['IP', mail.remoteIp],
    ['Helo', mail.helo],
    ...(mail.clientName === null ? [] : [['Hostname', mail.clientName] as const]),
    ['From', `<${mail.mailFrom}>`],
    ...mail.recipients.map(recipient => ['Rcpt', `<${recipient}>`] as const),
  ]
}

async function toCheck({ status, body }: RspamdReply, spamScore: () => Promise<number | null>): Promise<SpamCheck> {
  const reply = status === 200 ? readCheckReply(body) : undefined
  if (!reply) return unchecked(describeReply(status, body), false)
  const { severest, required, ...findings } = reply
  return { kind: 'checked', ...findings, required: required ?? (await spamScore()) ?? severest }
}

/** The score for spam that the controller says, for an rspamd whose replies do not; null: it cannot be asked. */
async function loadSpamScore(controller: RspamdOptions['controller']): Promise<number | null> {
  if (!controller) return null
  const request = { base: controller.url, path: '/actions', fields: passwordField(controller), body: null }
  try {
    const { status, body } = await withDeadline(maxPingMs, signal => askRspamd({ ...request, signal }))
    return status === 200 ? readActions(body) : null
  } catch {
    return null
  }
}

function toLessonResult({ status, body }: RspamdReply): LessonResult {
  // 208: learned before. 204: too little in it, or learned enough of its kind.
  if (status === 200 || status === 208) return { kind: 'learned' }
  const why = describeReply(status, body)
  const isFinal = status === 204 || status === 404 || status === 413
  return isFinal ? { kind: 'refused', why } : { kind: 'unavailable', why }
}

function describeReply(status: number, body: string): string {
  return `rspamd replied ${status}: ${body.replace(/\s+/g, ' ').slice(0, 200)}`
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  return `rspamd: ${(error.message || (typeof code === 'string' ? code : 'unknown error')).trim()}`
}
