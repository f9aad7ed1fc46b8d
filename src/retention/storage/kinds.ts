import type { TableSize } from './table.ts'

const tableKinds: Readonly<Record<string, string>> = {
  blobs: 'content',
  blob_chunks: 'content',
  messages: 'messages',
  attachments: 'messages',
  thread_references: 'messages',
  search_texts: 'search',
  search_heads: 'search',
  search_postings: 'search',
  emails: 'emails',
  email_recipients: 'emails',
  email_lookups: 'emails',
  outbox: 'emails',
  email_events: 'events',
  events: 'event_feed',
  event_numbers: 'event_feed',
  request_log: 'request_log',
  webhook_deliveries: 'webhook_deliveries',
}

/** The size of the tables in bytes, by the kind of what they hold, the largest first. */
export function sumByKind(tables: readonly TableSize[]): readonly { readonly kind: string; readonly bytes: number }[] {
  const byKind = Map.groupBy(tables, table => tableKinds[table.name] ?? 'other')
  return Array.from(byKind, ([kind, sizes]) => ({
    kind,
    bytes: sizes.reduce((sum, table) => sum + table.bytes, 0),
  })).toSorted((a, b) => b.bytes - a.bytes)
}
