import { createHash } from 'node:crypto'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import {
  insertNewReferences,
  insertReferences,
  selectReferences,
  type ThreadReference,
  updateReferenceThreads,
} from './table.ts'

/** A received message or a sent email that joins a thread of its brand, or begins one. */
export interface ThreadEntry {
  readonly brandId: Id<'brd'>
  /** The `msg_` or `eml_` id; a thread that begins here takes it as its own. */
  readonly itemId: string
  /** Without angle brackets, as the references are. */
  readonly messageId: string | null
  /** What In-Reply-To and References name, nearest first; the first 100 count. */
  readonly references: readonly string[]
  /** null: it is a received message. */
  readonly emailId: Id<'eml'> | null
}

export interface JoinedThread {
  readonly threadId: string
  /** The nearest sent email that it refers to. */
  readonly inReplyToEmailId: Id<'eml'> | null
}

const maxReferences = 100

interface ThreadPlan {
  readonly entry: ThreadEntry
  /** The keys of its own Message-ID and of its references, nearest first. */
  readonly keys: readonly string[]
  /** Those of the keys that were unknown. */
  readonly added: readonly string[]
  threadId: string
}

/**
 * Joins each entry to the thread of its brand in which its Message-ID, or the nearest of its references, was seen; if none
 * was, a thread begins. When an entry comes before what it refers to, the latter joins its thread later. Entries of one call
 * see those before them. Runs in the caller's transaction; concurrent calls end in the same thread (RFC 5322 §3.6.4).
 */
export async function joinThreads(db: Db, entries: readonly ThreadEntry[]): Promise<readonly JoinedThread[]> {
  return (await beginThreads(db, entries)) ?? (await joinKnownThreads(db, entries))
}

/**
 * The most common case, in one statement: no entry has references, and none of the Message-IDs was seen before. Undefined
 * when that is not so; the references added by then are the same that would be added otherwise.
 */
async function beginThreads(db: Db, entries: readonly ThreadEntry[]): Promise<readonly JoinedThread[] | undefined> {
  if (entries.some(entry => entry.references.length > 0)) return undefined
  const references = new Map(
    entries.flatMap(entry =>
      keysOf(entry).map(key => [key, { ...splitKey(key), threadId: entry.itemId, emailId: entry.emailId }] as const),
    ),
  )
  if (references.size < entries.filter(entry => entry.messageId !== null).length) return undefined
  const added = await insertNewReferences(db, sortedByKey(references))
  if (added < references.size) return undefined
  return entries.map(entry => ({ threadId: entry.itemId, inReplyToEmailId: null }))
}

/** In one order, so that concurrent transactions wait for each other rather than deadlock. */
function sortedByKey(references: ReadonlyMap<string, ThreadReference>): readonly ThreadReference[] {
  return Array.from(references)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row)
}

async function joinKnownThreads(db: Db, entries: readonly ThreadEntry[]): Promise<readonly JoinedThread[]> {
  const known = new Map<string, ThreadReference>()
  const seen = await selectReferences(db, entries.flatMap(keysToFind).map(splitKey))
  for (const row of seen) known.set(keyOf(row.brandId, row.reference), row)
  const added = new Map<string, ThreadReference>()
  const plans = entries.map(entry => planThread(entry, known, added))
  await insertReferences(db, sortedByKey(added))
  await joinConcurrentThreads(db, plans, known, added)
  return plans.map(({ entry, keys, threadId }) => ({ threadId, inReplyToEmailId: repliedEmailId(entry, keys, known) }))
}

/** A sent email without references has a Message-ID that nobody can have seen: no look-up. */
function keysToFind(entry: ThreadEntry): readonly string[] {
  return entry.emailId !== null && entry.references.length === 0 ? [] : keysOf(entry)
}

function keysOf(entry: ThreadEntry): readonly string[] {
  const own = entry.messageId === null ? [] : [entry.messageId]
  return [...new Set([...own, ...entry.references.slice(0, maxReferences)])].map(messageId =>
    keyOf(entry.brandId, referenceOf(messageId)),
  )
}

/** How a Message-ID, without angle brackets, is stored: as the first 16 bytes of its SHA-256. */
export function referenceOf(messageId: string): Buffer {
  return createHash('sha256').update(messageId).digest().subarray(0, 16)
}

function planThread(
  entry: ThreadEntry,
  known: Map<string, ThreadReference>,
  added: Map<string, ThreadReference>,
): ThreadPlan {
  const keys = keysOf(entry)
  const threadId = keys.map(key => known.get(key)?.threadId).find(found => found !== undefined) ?? entry.itemId
  const unknown = keys.filter((key, i) => {
    const row = known.get(key)
    const isOwn = i === 0 && entry.messageId !== null
    const emailId = row?.emailId ?? (isOwn ? entry.emailId : null)
    if (row && row.emailId === emailId) return false
    const reference = { ...splitKey(key), threadId: row?.threadId ?? threadId, emailId }
    known.set(key, reference)
    added.set(key, reference)
    return row === undefined
  })
  return { entry, keys, added: unknown, threadId }
}

/** When another transaction added a reference first, the thread that was to begin here is merged into the one there. */
async function joinConcurrentThreads(
  db: Db,
  plans: readonly ThreadPlan[],
  known: Map<string, ThreadReference>,
  added: ReadonlyMap<string, ThreadReference>,
): Promise<void> {
  const beginnings = new Set(plans.map(plan => plan.entry.itemId))
  const contested = plans.filter(plan => beginnings.has(plan.threadId) && keysToFind(plan.entry).length > 0)
  const keys = new Set(contested.flatMap(plan => plan.keys.filter(key => added.has(key))))
  for (const row of await selectReferences(db, Array.from(keys, splitKey)))
    known.set(keyOf(row.brandId, row.reference), row)
  for (const plan of contested) {
    const from = plan.threadId
    const to = plan.keys.map(key => known.get(key)?.threadId).find(found => found !== undefined && found !== from)
    if (to === undefined) continue
    const moved = plan.added.map(key => known.get(key)).filter(row => row?.threadId === from)
    const references = moved.flatMap(row => row?.reference ?? [])
    if (references.length > 0) await updateReferenceThreads(db, plan.entry.brandId, references, { from, to })
    for (const row of moved) if (row) known.set(keyOf(row.brandId, row.reference), { ...row, threadId: to })
    plan.threadId = to
  }
}

function repliedEmailId(
  entry: ThreadEntry,
  keys: readonly string[],
  known: ReadonlyMap<string, ThreadReference>,
): Id<'eml'> | null {
  for (const key of entry.messageId === null ? keys : keys.slice(1)) {
    const emailId = known.get(key)?.emailId
    if (emailId) return emailId
  }
  return null
}

function keyOf(brandId: Id<'brd'>, reference: Buffer): string {
  return `${brandId} ${reference.toString('base64')}`
}

function splitKey(key: string): { readonly brandId: Id<'brd'>; readonly reference: Buffer } {
  const [brandId, reference = ''] = key.split(' ')
  return { brandId: brandId as Id<'brd'>, reference: Buffer.from(reference, 'base64') }
}
