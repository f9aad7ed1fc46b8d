import type { BrandTenant } from '../../api/tenant.ts'
import { type Instant, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import { toJson } from '../../base/database/schema.ts'
import { type Id, newSortableToken } from '../../base/ids.ts'
import { buildSegments } from '../../inbox/search/build-segments.ts'
import { toSearchText } from '../../inbox/search/tokenizer.ts'
import type { TextWorker } from '../../inbox/text-worker/text-worker.ts'

const vocabulary = 30_000
const wordsPerMessage = 60
const rowsPerStatement = 500
/** Two of this many messages contain a rare word. */
const rareEvery = 2000
const characters = Array.from('京都東大阪会社請求書確認今日明天你好我们发票付款合同项目', value => value)

/** A pseudo-random generator, the same at every run. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** A word by its rank: the first are as common as `the`, most are rare (Zipf's law). */
export function wordOfRank(rank: number): string {
  const letters = 'etaoinshrdlucmfwypvbgkjqxz'
  let word = ''
  for (let rest = rank + 26; rest > 0; rest = Math.floor(rest / 26)) word += letters.charAt(rest % 26)
  return `w${word}`
}

function sentence(random: () => number, count: number): string {
  const words: string[] = []
  for (let i = 0; i < count; i++) words.push(wordOfRank(Math.floor(vocabulary ** random()) - 1))
  return words.join(' ')
}

function textOf(random: () => number, position: number): string {
  const body = sentence(random, wordsPerMessage)
  const rare = position % rareEvery < 2 ? ` needle${position} haystack` : ''
  const phrase = position % 50 < 2 ? ' please find attached the invoice' : ''
  const start = Math.floor(random() * (characters.length - 6))
  const chinese = position % 10 < 2 ? ` ${characters.slice(start, start + 6).join('')}` : ''
  return `${body}${phrase}${rare}${chinese}`
}

export interface FillDeps {
  readonly db: Db
  readonly texts: TextWorker
  /** The first gets half of all messages, the others share the rest in turn. */
  readonly tenants: readonly BrandTenant[]
  /** When the first message was received. */
  readonly at: Instant
}

/** Adds the messages number `from` to `to` with their search text, as fast as the server accepts them. */
export async function fillStore(deps: FillDeps, from: number, to: number): Promise<void> {
  const { db, tenants, at } = deps
  const random = seededRandom(from + 1)
  for (let first = from; first < to; first += rowsPerStatement) {
    const positions = Array.from({ length: Math.min(rowsPerStatement, to - first) }, (_, i) => first + i)
    const messages = positions.map(position => messageOf(tenants, position, textOf(random, position), at))
    await Promise.all([
      insertRows(
        db,
        'messages',
        messages.map(({ message }) => message),
      ),
      insertRows(
        db,
        'search_texts',
        messages.map(({ search }) => search),
      ),
    ])
  }
  const ids = tenants.map(tenant => tenant.organizationId)
  while ((await buildSegments(deps, ids)).length > 0);
}

function tenantOf([first, ...others]: readonly BrandTenant[], position: number): BrandTenant {
  const tenant = position % 2 === 0 ? first : others[Math.floor(position / 2) % others.length]
  if (!tenant) throw new Error('there is no tenant')
  return tenant
}

function messageOf(tenants: readonly BrandTenant[], position: number, text: string, at: Instant) {
  const { organizationId: organization_id, brandId: brand_id } = tenantOf(tenants, position)
  const receivedAt = plusMs(at, position)
  const id = `msg_${newSortableToken(Date.parse(`${at.slice(0, 10)}T00:00:00Z`) + position)}` as Id<'msg'>
  const message = {
    id,
    organization_id,
    brand_id,
    mailbox_id: null,
    folder: 'inbox',
    folder_reason: 'accepted',
    starred: 0,
    is_read: 0,
    received_at: receivedAt,
    size: text.length,
    blob_id: id.replace('msg_', 'blb_') as Id<'blb'>,
    sameness: Buffer.alloc(32),
    mail_from: 'alice@sender.example',
    rcpt_to: 'hello@demo.test',
    remote_ip: '127.0.0.1',
    helo: 'client.example',
    tls: null,
    smtputf8: 0,
    message_id: `${id}@sender.example`,
    thread_id: id,
    in_reply_to: null,
    in_reply_to_email_id: null,
    from_address: 'alice@sender.example',
    from_name: 'Alice',
    to_addresses: toJson([{ address: 'hello@demo.test', name: '' }]),
    subject: text.slice(0, 40),
    preview: text.slice(0, 200),
    attachment_count: 0,
    verdicts: '{}',
    spf: 'pass',
    dkim: 'pass',
    dmarc: 'pass',
    scan: 'clean',
    scan_signature: null,
    rescan_at: null,
    release_folder: null,
    indexed: 1,
  } as const
  const words = toSearchText(`alice sender.example hello demo.test ${text}`)
  return { message, search: { message_id: id, organization_id, brand_id, words, bytes: words.length, place: null } }
}
