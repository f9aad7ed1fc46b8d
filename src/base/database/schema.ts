import type { Generated } from 'kysely'
import type { Instant } from '../clock.ts'
import type { Id } from '../ids.ts'

/** JSON in a text column: MariaDB has no type of its own for it. Written with {@link toJson}, read with {@link fromJson}. */
export type Json<Value> = string & { readonly json?: Value }

export function toJson<Value>(value: Value): Json<Value> {
  return JSON.stringify(value) as Json<Value>
}

export function fromJson<Value>(json: Json<Value>): Value {
  return JSON.parse(json) as Value
}

/** A TINYINT(1). */
export type Flag = 0 | 1

/** The tables, as the migrations leave them. */
export interface DatabaseSchema {
  organizations: {
    id: Id<'org'>
    name: string
    plan: 'free' | 'paid' | 'unlimited'
    created_at: Instant
  }
  /** Emails accepted in a month (`YYYY-MM`, UTC), in slots so that sends at the same time do not wait for each other. */
  usage_months: {
    organization_id: Id<'org'>
    month: string
    slot: number
    accepted: number
  }
  brands: {
    id: Id<'brd'>
    organization_id: Id<'org'>
    name: string
    slug: string
    status: 'pending' | 'ready'
    created_at: Instant
    updated_at: Instant
  }
  /** Brands whose sending was paused at some time because too much of it bounced or was complained of. */
  brand_pauses: {
    brand_id: Id<'brd'>
    /** null: it sends again. */
    paused_at: Instant | null
    /** A sentence; null: it sends again. */
    reason: string | null
    /** What was sent before does not count. */
    counted_from: Instant
  }
  api_keys: {
    id: Id<'key'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'> | null
    name: string
    /** SHA-256 of the secret. */
    secret_hash: Buffer
    /** Scopes with spaces between. */
    scopes: string
    expires_at: Instant | null
    revoked_at: Instant | null
    last_used_at: Instant | null
    created_at: Instant
    /** The member who made it; null: the operator's command line. */
    maker_id: Id<'mem'> | null
    /** The member whose key it is, never able to do more than they; null: the organization's own. */
    member_id: Id<'mem'> | null
    /** Since when it is not taken, until it is enabled again; null: it is. */
    disabled_at: Instant | null
  }
  members: {
    id: Id<'mem'>
    organization_id: Id<'org'>
    /** Lower case. */
    email: string
    name: string
    role: Role
    /** Scopes, and `api_access`, with spaces between; only a `member` is limited by them. */
    permissions: string
    created_at: Instant
    last_active_at: Instant | null
  }
  /** The brands that a member of the role `member` has. */
  member_brands: {
    member_id: Id<'mem'>
    brand_id: Id<'brd'>
  }
  invitations: {
    id: Id<'inv'>
    organization_id: Id<'org'>
    email: string | null
    brand_ids: Json<readonly Id<'brd'>[]>
    permissions: string
    invited_by: Id<'mem'> | null
    /** SHA-256 of what the link holds. */
    token_hash: Buffer
    created_at: Instant
    expires_at: Instant
    accepted_at: Instant | null
    revoked_at: Instant | null
    /** Who accepted it. */
    member_id: Id<'mem'> | null
  }
  /** The requests that a valid key made. */
  request_log: {
    id: Id<'req'>
    organization_id: Id<'org'>
    /** Unique in the organization, so that it can be a cursor. */
    created_at: Instant
    client_request_id: string | null
    method: string
    /** Without the query. */
    path: string
    status: number
    duration_ms: number
    api_key_id: Id<'key'>
    brand_id: Id<'brd'> | null
    ip: string
    user_agent: string | null
    error_code: string | null
    idempotent_replay: Flag
    email_id: Id<'eml'> | null
  }
  idempotency_keys: {
    organization_id: Id<'org'>
    idempotency_key: string
    /** SHA-256 of what makes a request the same request. */
    fingerprint: Buffer
    /** Who may store the answer. */
    token: string
    leased_until: Instant
    status: number | null
    answer: string | null
    created_at: Instant
  }

  domains: {
    id: Id<'dom'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'>
    domain: string
    status: 'pending' | 'verified' | 'failed'
    ownership_verified: Flag
    provider_error: string | null
    last_checked_at: Instant | null
    created_at: Instant
    /** When DNS is looked at again without anyone asking; whoever looks moves it first. */
    next_check_at: Generated<Instant>
    /** Such looks since one that changed something. */
    checks_unchanged: Generated<number>
    /** Such looks, one after the other, that did not find what was verified. */
    misses: Generated<number>
    /** The provider that knows it, as that calls the place of its domains; null: none does, or none need. */
    enrolled_with: Generated<string | null>
  }
  /** What is to be published for a domain, and what was seen there. */
  domain_records: {
    id: Id<'rec'>
    domain_id: Id<'dom'>
    purpose: 'dkim' | 'spf' | 'return_path' | 'dmarc' | 'receiving_identity' | 'mx'
    type: 'TXT' | 'CNAME' | 'MX'
    name: string
    value: string
    priority: number | null
    required: Flag
    status: 'pending' | 'verified' | 'mismatch' | 'unknown'
    found: Json<readonly string[]>
    checked_at: Instant | null
    /** What is wrong with what was found, for a person; null: what `found` shows says it. */
    detail: Generated<string | null>
  }
  dkim_keys: {
    domain_id: Id<'dom'>
    selector: string
    /** PKCS #8, PEM; sealed where `sealed_by` names a secret key. */
    private_key: string
    created_at: Instant
    /** The secret key; null: from before keys were sealed. */
    sealed_by: Generated<string | null>
    /** `next`: waits to be seen in DNS; `retiring`: signs no more, and stays published for a while. */
    state: Generated<'next' | 'signing' | 'retiring'>
    /** null: since it was made. */
    state_since: Generated<Instant | null>
  }
  /** The secret keys that processes on this database hold. */
  secret_keys: {
    id: string
    created_at: Instant
  }
  /** Who receives mail for a domain: one organization at most. */
  receiving_claims: {
    domain: string
    organization_id: Id<'org'>
    domain_id: Id<'dom'>
    /** Is the receiving identity verified? Once it is, it stays so. */
    identity_verified: Flag
    identity_error: string | null
    mx_verified: Flag
    claimed_at: Instant
    checked_at: Instant | null
    /** Looks, one after the other and without anyone asking, that did not find the MX record that was verified. */
    mx_misses: Generated<number>
  }
  mailboxes: {
    id: Id<'mbx'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'>
    domain_id: Id<'dom'>
    /** Lower case; empty: the catch-all. */
    local_part: string
    created_at: Instant
  }
  /** The policies of RFC 8461 of the domains that receive here and have asked for one. */
  mta_sts_policies: {
    domain: string
    mode: 'none' | 'testing' | 'enforce'
    /** As `_mta-sts` publishes it: another for each policy. */
    policy_id: string
    changed_at: Instant
  }
  /** What an ACME authority issued, or is to issue. */
  certificates: {
    name: string
    /** SHA-256 of the certificate in hexadecimal; null: none was issued yet, as in all that follows from it. */
    fingerprint: string | null
    /** PEM, the certificate first. */
    chain: string | null
    /** Sealed. */
    private_key: string | null
    sealed_by: string | null
    not_before: Instant | null
    not_after: Instant | null
    /** When the next one may be ordered. A claim moves it to the end of its lease. */
    next_attempt_at: Instant
    /** The claim that may settle it; null: none. */
    lease: string | null
    /** One after the other. */
    failures: number
    last_error: string | null
    created_at: Instant
  }
  /** Our account with each authority. */
  acme_accounts: {
    /** The URL of its directory. */
    directory: string
    /** Sealed. */
    private_key: string
    sealed_by: string
    created_at: Instant
  }
  /** What an authority is to find at a name (RFC 8555 §8.3). */
  acme_challenges: {
    token: string
    key_authorization: string
    created_at: Instant
  }
  /** The `local` zone: names below `.test`, for trying without the internet. */
  local_records: {
    id: Id<'rec'>
    type: string
    name: string
    value: string
    priority: number | null
    ttl: number
    created_at: Instant
    /** Who published it; null: not Mailroom. */
    mark: string | null
    updated_at: Instant | null
  }
  /** Whoever writes a `local` zone holds its row. */
  local_zones: {
    name: string
  }
  /** Who may change a zone at its provider, and until when at most. */
  zone_turns: {
    zone: string
    holder: string
    until: Instant
  }
  /** Records that a request with an Idempotency-Key set out to delete: after a crash its retry finds them gone. */
  dns_removals: {
    organization_id: Id<'org'>
    idempotency_key: string
    record_id: Id<'rec'>
    created_at: Instant
  }

  /** Bytes by content, within an organization. */
  blobs: {
    id: Id<'blb'>
    organization_id: Id<'org'>
    sha256: Buffer
    size: number
    /** Are all its chunks here? */
    complete: Flag
    created_at: Instant
  }
  blob_chunks: {
    blob_id: Id<'blb'>
    /** 0-based; each chunk but the last holds 512 KiB. */
    position: number
    bytes: Buffer
  }
  /** Blobs that nothing referred to when they were looked at, and those whose row is gone and whose chunks are to go. */
  blob_tombstones: {
    blob_id: Id<'blb'>
    forgotten_at: Instant
    /** When its row went; null: it is still there. */
    removed_at: Instant | null
  }

  emails: {
    id: Id<'eml'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'>
    domain_id: Id<'dom'>
    api_key_id: Id<'key'> | null
    /** Unique in the organization, so that it can be a cursor. */
    created_at: Instant
    scheduled_at: Instant | null
    /** Not sent by then is failed. */
    expires_at: Instant
    status: EmailStatus
    message_id: string
    thread_id: string
    from_address: string
    /** As shown: `Name <a@x>`. */
    from_header: string
    to_addresses: Json<readonly string[]>
    cc_addresses: Json<readonly string[]>
    bcc_addresses: Json<readonly string[]>
    reply_to: Json<readonly string[]>
    subject: string
    tags: Json<readonly { readonly name: string; readonly value: string }[]>
    metadata: Json<Readonly<Record<string, string>>>
    template: string | null
    attachments: Json<
      readonly {
        readonly id: Id<'att'>
        readonly filename: string
        readonly content_type: string
        readonly size: number
        readonly content_id: string | null
      }[]
    >
    attachment_count: number
    /** The message without Date, Bcc and DKIM-Signature. */
    blob_id: Id<'blb'>
    provider: string
    provider_message_id: string | null
    sent_at: Instant | null
    last_event_at: Instant
    error: string | null
    /** Was it sent with `unsubscribe: true`? */
    unsubscribable: Generated<Flag>
    /** The Message-ID that recipients see, without angle brackets, where it is known not to be ours. */
    wire_message_id: Generated<string | null>
    /** When its content was removed; `blob_id` is empty since. */
    content_purged_at: Generated<Instant | null>
    /** When its attachments were removed: `blob_id` holds the message without them. */
    attachments_purged_at: Generated<Instant | null>
  }
  /** By what else than its id an email is found, newest first; see sending/lookups.ts. */
  email_lookups: {
    lookup: Buffer
    /** The email's. */
    created_at: Instant
    email_id: Id<'eml'>
    brand_id: Id<'brd'>
  }
  /** The links by which recipients unsubscribe. */
  unsubscribe_links: {
    /** SHA-256 of what the link holds. */
    token_hash: Buffer
    organization_id: Id<'org'>
    brand_id: Id<'brd'>
    email_id: Id<'eml'>
    /** The recipient; lower case. */
    email: string
    created_at: Instant
  }
  email_recipients: {
    email_id: Id<'eml'>
    /** 0-based, in the order given: to, cc, bcc. */
    position: number
    organization_id: Id<'org'>
    email: string
    type: 'to' | 'cc' | 'bcc'
    status: EmailStatus
    smtp_code: number | null
    enhanced_code: string | null
    detail: string | null
    updated_at: Instant
    /** Does the status rest on someone else's report, and not on what we saw ourselves? */
    reported: Generated<Flag>
  }
  email_events: {
    id: Id<'evt'>
    organization_id: Id<'org'>
    email_id: Id<'eml'>
    recipient: string | null
    type: EmailStatus | 'replied'
    occurred_at: Instant
    recorded_at: Instant
    source: 'api' | 'smtp' | 'provider_webhook' | 'dsn' | 'inbound'
    smtp_code: number | null
    enhanced_code: string | null
    detail: string | null
    bounce: Json<{
      readonly type: 'permanent' | 'transient' | 'undetermined'
      readonly scope: 'recipient' | 'infrastructure'
      readonly suppressed: boolean
    }> | null
    extra: Json<Readonly<Record<string, unknown>>>
    /** The same for an event that a provider repeats. */
    repeat_key: Buffer | null
  }
  /** One row a recipient that is still to be submitted. */
  outbox: {
    id: Id<'out'>
    organization_id: Id<'org'>
    email_id: Id<'eml'>
    position: number
    /** The recipient's domain. */
    destination: string
    /** When it may be taken. A claim moves it to the end of its lease. */
    due_at: Instant
    /** The claim that may settle it; null: none. */
    lease: string | null
    attempts: number
    expires_at: Instant
    /** The provider's last word, for the end that comes when time runs out. */
    last_reply: string | null
    created_at: Instant
    /** Since when the operator keeps it from being submitted; null: nothing does. See relay/hold.ts. */
    held_at: Generated<Instant | null>
    /** Why, for operators alone. */
    held_reason: Generated<string | null>
  }
  /** What providers may tell once only: again with the same content it is a repetition, with another a forgery. */
  provider_tokens: {
    token_hash: Buffer
    content_hash: Buffer
    created_at: Instant
  }
  /** Reports that the simulator has still to deliver; see ports/provider/simulator/deliver-reports.ts. */
  simulated_reports: {
    email_id: Id<'eml'>
    recipient: string
    kind: 'status' | 'complaint' | 'absence'
    /** When to deliver it. The process that delivers it sets this to the end of its lease. */
    due_at: Instant
    rcpt_to: string
    message: Buffer
    /** The same as a provider event (ProviderEvent as JSON); null: providers do not report it. */
    news: Json<Readonly<Record<string, unknown>>> | null
  }
  suppressions: {
    id: Id<'sup'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'>
    /** Lower case. */
    email: string
    reason: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
    source_email_id: Id<'eml'> | null
    evidence: string | null
    created_at: Instant
    expires_at: Instant | null
    /** They unsubscribed besides, which outlasts the reason; null: they did not, or that is the reason. */
    unsubscribed_at: Generated<Instant | null>
  }
  templates: {
    id: Id<'tpl'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'>
    slug: string
    name: string
    subject: string | null
    text: string | null
    html: string | null
    variables: Json<readonly { readonly name: string; readonly required: boolean; readonly default: unknown }[]>
    created_at: Instant
    updated_at: Instant
  }
  drafts: {
    id: Id<'drf'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'> | null
    /** As it will be shown: `Name <a@x>`. */
    from_header: string | null
    to_addresses: Json<readonly string[]>
    cc_addresses: Json<readonly string[]>
    bcc_addresses: Json<readonly string[]>
    reply_to: Json<readonly string[]>
    subject: string | null
    text: string | null
    /** The received message that it answers. */
    in_reply_to: Id<'msg'> | null
    created_at: Instant
    updated_at: Instant
  }

  messages: {
    id: Id<'msg'>
    organization_id: Id<'org'>
    /** Outlives the mailbox. */
    brand_id: Id<'brd'>
    mailbox_id: Id<'mbx'> | null
    folder: Folder
    folder_reason: string
    starred: Flag
    is_read: Flag
    received_at: Instant
    size: number
    blob_id: Id<'blb'>
    /** SHA-256 of reverse-path and bytes: the same message again. */
    sameness: Buffer
    mail_from: string
    rcpt_to: string
    remote_ip: string
    helo: string
    tls: string | null
    smtputf8: Flag
    message_id: string | null
    thread_id: string
    in_reply_to: string | null
    in_reply_to_email_id: Id<'eml'> | null
    from_address: string
    from_name: string
    to_addresses: Json<readonly { readonly address: string; readonly name: string }[]>
    subject: string
    preview: string
    attachment_count: number
    verdicts: Json<unknown>
    spf: string
    dkim: string
    dmarc: string
    scan: ScanStatus
    scan_signature: string | null
    /** When an unscanned message is scanned again; null: not waiting. */
    rescan_at: Instant | null
    /** The folder it goes to once it is found clean. */
    release_folder: Folder | null
    /** Since when it is in its folder, where what is in that has its time: spam, trash and quarantine. */
    folder_since: Generated<Instant | null>
    /** When its bytes were removed; `blob_id` is empty since. */
    raw_purged_at: Generated<Instant | null>
    /** When its attachments were removed: `blob_id` holds the message without them. */
    attachments_purged_at: Generated<Instant | null>
    /** Is its search text written? */
    indexed: Generated<Flag>
    /** May it answer an email, and was not written by a program? null: from before this was kept. */
    is_reply: Generated<Flag | null>
  }
  attachments: {
    id: Id<'att'>
    organization_id: Id<'org'>
    message_id: Id<'msg'>
    /** 0-based, in the order in which the parser meets them. */
    position: number
    filename: string
    content_type: string
    size: number
    content_id: string | null
    disposition: string
    sha256: Buffer
    scan: ScanStatus
    scan_signature: string | null
  }
  /** Message-IDs seen in a brand, and the thread each belongs to. */
  thread_references: {
    brand_id: Id<'brd'>
    /** The first 16 bytes of the SHA-256 of the Message-ID. */
    reference: Buffer
    thread_id: string
    email_id: Id<'eml'> | null
  }
  search_texts: {
    message_id: Id<'msg'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'>
    /** Its tokens in order, with a space before and after each. */
    words: string
    /** Of the words. */
    bytes: number
    /** Its position, counted through all segments of the organization; null: in no segment. See docs/search-index.md. */
    place: number | null
  }
  search_heads: {
    organization_id: Id<'org'>
    /** How many segments there are. */
    blocks: number
    /** Counts the times when texts that were in the index changed. */
    revision: Generated<number>
  }
  search_postings: {
    organization_id: Id<'org'>
    /** The segment's number, from 0. */
    block: number
    term: Buffer
    /** The posting list: the positions of the messages that contain the term. */
    places: Buffer
  }
  /** How far each run over all search texts has come, while there is one; see inbox/search/reindex.ts. */
  search_reindex: {
    name: string
    /** The id of the message that was looked at last. */
    position: string
  }

  /** How long what is stored is kept; see retention/policies.ts. */
  retention_policies: {
    /** The id of a brand or an organization, or `instance`. */
    scope: string
    kind: string
    /** null: for ever. */
    days: number | null
    set_at: Instant
  }
  /** How far each walk over what is kept so many days has come. */
  retention_cursors: {
    kind: string
    days: number
    position: string
  }
  /** What a walk met when it could not go yet, such as an email that was not sent. */
  retention_waiting: {
    kind: string
    item_id: string
    again_at: Instant
  }
  /** Work that one process does at a time. */
  leases: {
    name: string
    holder: string
    until: Instant
  }
  /** How many bytes the tables held, once an hour. */
  storage_samples: {
    taken_at: Instant
    bytes: number
  }

  /** What operators did by command. */
  audit_log: {
    id: Id<'aud'>
    at: Instant
    /** The user of the operating system. */
    actor: string
    /** `quarantine.release` */
    action: string
    /** What it was done to: an id, or what the command was told to take. */
    subject: string
    detail: Json<Readonly<Record<string, unknown>>>
  }
  /** Backups that are under way; see backups-table.ts. */
  backup_runs: {
    id: string
    started_at: Instant
    expires_at: Instant
  }
  /** Backups that were made of this database. */
  backups: {
    id: string
    started_at: Instant
    finished_at: Instant
    seconds: number
    bytes: number
    /** What it wrote that no earlier one had. */
    new_bytes: number
    /** When it was last restored for a trial and found whole. */
    proven_at: Instant | null
    /** When it was last found damaged. */
    refuted_at: Instant | null
  }
  /** The backup that this database was restored from. */
  restores: {
    id: string
    started_at: Instant
    steps_done: number
    /** null: it did not come to its end. */
    finished_at: Instant | null
  }
}

export type Role = 'owner' | 'admin' | 'member'

export type Folder = 'inbox' | 'spam' | 'archive' | 'trash' | 'quarantine'

export type ScanStatus = 'clean' | 'infected' | 'error' | 'skipped'

/** What an email, and each of its recipients, may be. */
export const emailStatuses = [
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delayed',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'rejected',
  'failed',
  'canceled',
] as const
export type EmailStatus = (typeof emailStatuses)[number]
