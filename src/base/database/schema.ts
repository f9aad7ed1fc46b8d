import type { Generated } from 'kysely'
import type { Instant } from '../clock.ts'
import type { Id } from '../ids.ts'

/** JSON in a text column: MariaDB has no JSON type. Written with {@link toJson}, read with {@link fromJson}. */
export type Json<Value> = string & { readonly json?: Value }

export function toJson<Value>(value: Value): Json<Value> {
  return JSON.stringify(value) as Json<Value>
}

export function fromJson<Value>(json: Json<Value>): Value {
  return JSON.parse(json) as Value
}

/** A TINYINT(1). */
export type Flag = 0 | 1

/** The rows of each table after all migrations. */
export interface DatabaseSchema {
  organizations: {
    id: Id<'org'>
    name: string
    plan: 'free' | 'paid' | 'unlimited'
    created_at: Instant
    /** When its name or plan last changed; null: never. */
    updated_at: Instant | null
  }
  /** Emails accepted in a month (`YYYY-MM`, UTC), in slots, so that concurrent sends do not wait for each other. */
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
  /** Brands whose sending is, or once was, paused because of too many bounces or complaints. */
  brand_pauses: {
    brand_id: Id<'brd'>
    /** null: sending was resumed. */
    paused_at: Instant | null
    /** A sentence; null: sending was resumed. */
    reason: string | null
    /** Emails sent before are not counted. */
    counted_from: Instant
  }
  api_keys: {
    id: Id<'key'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'> | null
    name: string
    /** SHA-256 of the secret. */
    secret_hash: Buffer
    /** Separated by spaces. */
    scopes: string
    expires_at: Instant | null
    revoked_at: Instant | null
    last_used_at: Instant | null
    created_at: Instant
    /** The member who created it; null: the operator's command line. */
    maker_id: Id<'mem'> | null
    /** The member who owns it, and whose permissions limit it; null: the organization owns it. */
    member_id: Id<'mem'> | null
    /** Since when it is disabled; null: it is enabled. */
    disabled_at: Instant | null
  }
  members: {
    id: Id<'mem'>
    organization_id: Id<'org'>
    /** Lower case. */
    email: string
    name: string
    role: Role
    /** Scopes and `api_access`, separated by spaces; they limit only the role `member`. */
    permissions: string
    created_at: Instant
    last_active_at: Instant | null
    /** The person who signs in as this member; null: nobody has yet. */
    user_id: Id<'usr'> | null
    /** When their role, brands or permissions last changed; null: never. */
    updated_at: Instant | null
  }
  /** The brands to which a member with the role `member` has access. */
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
    /** SHA-256 of the token in the link. */
    token_hash: Buffer
    created_at: Instant
    expires_at: Instant
    accepted_at: Instant | null
    revoked_at: Instant | null
    /** The member who accepted it. */
    member_id: Id<'mem'> | null
    /** When its brands or permissions last changed; null: never. */
    updated_at: Instant | null
  }
  /** The requests with a valid API key. */
  request_log: {
    id: Id<'req'>
    organization_id: Id<'org'>
    /** Unique in the organization, so that it can be a cursor. */
    created_at: Instant
    client_request_id: string | null
    method: string
    /** Without the query string. */
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
    /** See fingerprintOf in api/idempotency/fingerprint.ts. */
    fingerprint: Buffer
    /** The reservation that may store the response. */
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
    /** When DNS is rechecked by the background job, which moves it forward first. */
    next_check_at: Generated<Instant>
    /** Rechecks since one that changed something. */
    checks_unchanged: Generated<number>
    /** Consecutive rechecks that did not find the verified records. */
    misses: Generated<number>
    /** The provider, and its account or region, with which it is enrolled; null: none, or none is needed. */
    enrolled_with: Generated<string | null>
  }
  /** The DNS records that a domain needs, and what was found in DNS. */
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
    /** What is wrong with the records found, for people; null: `found` says enough. */
    detail: Generated<string | null>
  }
  dkim_keys: {
    domain_id: Id<'dom'>
    selector: string
    /** PKCS #8, PEM; encrypted where `sealed_by` names a secret key. */
    private_key: string
    created_at: Instant
    /** The secret key that encrypts it; null: stored in clear by an early version. */
    sealed_by: Generated<string | null>
    /** `next`: signs once it is found in DNS; `retiring`: signs no more, and stays published for a while. */
    state: Generated<'next' | 'signing' | 'retiring'>
    /** null: since its creation. */
    state_since: Generated<Instant | null>
  }
  /** The secret keys that every process on this database must have. */
  secret_keys: {
    id: string
    created_at: Instant
  }
  /** The organization that receives mail for a domain: at most one. */
  receiving_claims: {
    domain: string
    organization_id: Id<'org'>
    domain_id: Id<'dom'>
    /** Whether the receiving identity was verified; once it was, it stays so. */
    identity_verified: Flag
    identity_error: string | null
    mx_verified: Flag
    claimed_at: Instant
    checked_at: Instant | null
    /** Consecutive rechecks that did not find the verified MX record. */
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
  /** The MTA-STS policies (RFC 8461) of the domains that have requested one. */
  mta_sts_policies: {
    domain: string
    mode: 'none' | 'testing' | 'enforce'
    /** The `id` in the TXT record of `_mta-sts`: a new one for each policy. */
    policy_id: string
    changed_at: Instant
  }
  /** Certificates that an ACME authority has issued or is to issue. */
  certificates: {
    name: string
    /** SHA-256 of the certificate in hexadecimal; null, here and in the columns up to `not_after`: none was issued yet. */
    fingerprint: string | null
    /** PEM, the certificate first. */
    chain: string | null
    /** Encrypted with the secret key. */
    private_key: string | null
    sealed_by: string | null
    not_before: Instant | null
    not_after: Instant | null
    /** When the next certificate may be ordered. A claim moves it to the end of its lease. */
    next_attempt_at: Instant
    /** The claim that may settle it; null: none. */
    lease: string | null
    /** Consecutive failed orders. */
    failures: number
    last_error: string | null
    created_at: Instant
  }
  /** Our account with each ACME authority. */
  acme_accounts: {
    /** The URL of its directory. */
    directory: string
    /** Encrypted with the secret key. */
    private_key: string
    sealed_by: string
    created_at: Instant
  }
  /** Responses to HTTP-01 challenges (RFC 8555 §8.3). */
  acme_challenges: {
    token: string
    key_authorization: string
    created_at: Instant
  }
  /** The records of the `local` zone: names below `.test`, for use without the internet. */
  local_records: {
    id: Id<'rec'>
    type: string
    name: string
    value: string
    priority: number | null
    ttl: number
    created_at: Instant
    /** Its owner mark; null: Mailroom did not publish it. */
    mark: string | null
    updated_at: Instant | null
  }
  /** Writers of a `local` zone lock its row. */
  local_zones: {
    name: string
  }
  /** The process that has the lock of a zone at its DNS provider, and until when at most. */
  zone_turns: {
    zone: string
    holder: string
    until: Instant
  }
  /** Records that a request with an Idempotency-Key began to delete: after a crash, its retry knows why they are gone. */
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
    /** Whether all its chunks are stored. */
    complete: Flag
    created_at: Instant
  }
  blob_chunks: {
    blob_id: Id<'blb'>
    /** 0-based; each chunk but the last holds 512 KiB. */
    position: number
    bytes: Buffer
  }
  /** Blobs that nothing referred to when they were checked, and deleted blobs whose chunks are still to be deleted. */
  blob_tombstones: {
    blob_id: Id<'blb'>
    forgotten_at: Instant
    /** When its row was deleted; null: not yet. */
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
    /** When it fails unless it was sent. */
    expires_at: Instant
    status: EmailStatus
    message_id: string
    thread_id: string
    from_address: string
    /** `Name <a@x>`. */
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
    /** The MIME message without Bcc and DKIM-Signature; without Date where Mailroom composed it. */
    blob_id: Id<'blb'>
    provider: string
    provider_message_id: string | null
    sent_at: Instant | null
    last_event_at: Instant
    error: string | null
    /** Whether it was sent with `unsubscribe: true`. */
    unsubscribable: Generated<Flag>
    /** The Message-ID that recipients see, without angle brackets, where it is known not to be ours. */
    wire_message_id: Generated<string | null>
    /** When its content was removed; `blob_id` is empty since. */
    content_purged_at: Generated<Instant | null>
    /** When its attachments were removed: `blob_id` holds the message without them. */
    attachments_purged_at: Generated<Instant | null>
    /** `smtp`: a client composed the message and submitted it; else Mailroom composed it. */
    source: Generated<'api' | 'smtp'>
  }
  /** Finds emails by other values than their id, newest first; see sending/emails/email-index.ts. */
  email_lookups: {
    lookup: Buffer
    /** That of the email. */
    created_at: Instant
    email_id: Id<'eml'>
    brand_id: Id<'brd'>
  }
  /** The unsubscribe links of sent emails. */
  unsubscribe_links: {
    /** SHA-256 of the token in the link. */
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
    /** Whether the status is based on a report or provider event, and not on an SMTP reply that we received. */
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
    /** Equal for repetitions of the same provider event. */
    repeat_key: Buffer | null
  }
  /** One row for each recipient that is still to be submitted. */
  outbox: {
    id: Id<'out'>
    organization_id: Id<'org'>
    email_id: Id<'eml'>
    position: number
    /** The recipient's domain. */
    destination: string
    /** When it may be claimed. A claim moves it to the end of its lease. */
    due_at: Instant
    /** The claim that may settle it; null: none. */
    lease: string | null
    attempts: number
    expires_at: Instant
    /** The provider's last reply: the reason given when the email expires. */
    last_reply: string | null
    created_at: Instant
    /** Since when it is on hold by the operator; null: it is not. */
    held_at: Generated<Instant | null>
    /** The reason of the hold, for operators only. */
    held_reason: Generated<string | null>
    /**
     * Of a claimed row: 0, its submission has not begun; 1, the provider may have the message; null: not claimed, or not
     * known, because a version claimed it that does not write this.
     */
    submitting: Generated<Flag | null>
    /** The provider has taken the message, which is still to be recorded: when, and its reply. */
    accepted: Generated<Json<unknown> | null>
    /** 1: the provider may have taken the message at an attempt whose outcome nobody knows. */
    ambiguous: Generated<Flag>
  }
  /** Single-use tokens of provider webhooks: used again with the same content it is a repetition, with other content a forgery. */
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
    /** When the recipient also unsubscribed, which outlasts the reason; null: never, or it is the reason. */
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
    /** `Name <a@x>`. */
    from_header: string | null
    to_addresses: Json<readonly string[]>
    cc_addresses: Json<readonly string[]>
    bcc_addresses: Json<readonly string[]>
    reply_to: Json<readonly string[]>
    subject: string | null
    text: string | null
    /** The received message that it replies to. */
    in_reply_to: Id<'msg'> | null
    created_at: Instant
    updated_at: Instant
  }

  messages: {
    id: Id<'msg'>
    organization_id: Id<'org'>
    /** Stays when the mailbox is deleted. */
    brand_id: Id<'brd'>
    mailbox_id: Id<'mbx'> | null
    folder: Folder
    folder_reason: string
    starred: Flag
    is_read: Flag
    received_at: Instant
    size: number
    blob_id: Id<'blb'>
    /** SHA-256, equal for the same message that comes again for the same address. */
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
    /** When an unscanned message is scanned again; null: it is not. */
    rescan_at: Instant | null
    /** The folder that it is moved to once it is found clean. */
    release_folder: Folder | null
    /** Why it goes to that folder; null: it goes to none, or it came before this was recorded. */
    release_reason: Generated<string | null>
    /** What the spam filter found; null: it was not asked, or did not answer. */
    spam: Generated<Json<unknown> | null>
    /** Since when it is in its folder, for the folders with a retention time: spam, trash and quarantine. */
    folder_since: Generated<Instant | null>
    /** When its bytes were removed; `blob_id` is empty since. */
    raw_purged_at: Generated<Instant | null>
    /** When its attachments were removed: `blob_id` holds the message without them. */
    attachments_purged_at: Generated<Instant | null>
    /** Whether its search text is stored. */
    indexed: Generated<Flag>
    /** Whether it may be a reply to an email, not written by a program; null: received before this was recorded. */
    is_reply: Generated<Flag | null>
  }
  /** What moves to and from spam are to teach the spam filter, a row for each message. */
  spam_lessons: {
    message_id: Id<'msg'>
    organization_id: Id<'org'>
    lesson: 'spam' | 'ham'
    /** When it is taught; while a process teaches it, the end of that process's lease. */
    due_at: Instant
    attempts: number
    created_at: Instant
  }
  /** Senders whose mail an organization allows or blocks. */
  sender_listings: {
    organization_id: Id<'org'>
    /** An address in lower case, or a domain. */
    entry: string
    listing: 'allow' | 'block'
    created_at: Instant
  }
  attachments: {
    id: Id<'att'>
    organization_id: Id<'org'>
    message_id: Id<'msg'>
    /** 0-based, in the order of the parser. */
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
  /** Message-IDs seen in a brand, and their threads. */
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
    /** The length of the words in bytes. */
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

  /** What happened, for programs: written in the transaction of its cause. See events/number-events.ts. */
  events: {
    /** The order in which they were written. One that is committed late has a smaller one than others that can be seen already. */
    position: Generated<number>
    id: Id<'evt'>
    organization_id: Id<'org'>
    /** null: shown to keys of the whole organization only. */
    brand_id: Id<'brd'> | null
    mailbox_id: Id<'mbx'> | null
    type: string
    occurred_at: Instant
    /** As it is given out. */
    data: Json<object>
    created_at: Instant
  }
  /** The events that readers can see: those that have a number. */
  event_numbers: {
    /** The order in which readers see them. */
    sequence: number
    position: number
    organization_id: Id<'org'>
  }
  /** A single row, of id 1. */
  event_sequence: {
    id: number
    /** No event gets a number up to this one, although the events that had them may be gone. */
    passed: number
  }
  /** A single row, of id 1. */
  event_watermark: {
    id: number
    /** Every event up to this position has a number, and none can come: who numbers begins here. It may lag. */
    position: number
  }
  /** How far the events of an organization were deleted: a reader who has come less far has missed some. */
  event_floors: {
    organization_id: Id<'org'>
    /** The highest sequence that was deleted. */
    deleted_until: number
  }
  /** How far the jobs of ours have come that read the sequence. */
  event_readers: {
    name: string
    sequence: number
  }

  /** The endpoints of other programs that events are delivered to. */
  webhooks: {
    id: Id<'whk'>
    organization_id: Id<'org'>
    url: string
    /** Separated by spaces. */
    types: string
    /** null: of the whole organization. */
    brand_id: Id<'brd'> | null
    /** Empty: any. */
    mailbox_ids: Json<readonly Id<'mbx'>[]>
    description: string | null
    /** Secrets and headers; see events/webhooks/secrets.ts. */
    sealed: string
    sealed_by: string
    secret_ends_in: string
    /** Who made it, or enabled it last: an API key, or else a member in the dashboard. */
    maker_key_id: Id<'key'> | null
    maker_member_id: Id<'mem'> | null
    /** All events up to this sequence are delivered, in `webhook_deliveries`, or not for this webhook. */
    read_through: number
    last_success_at: Instant | null
    /** Since the first failure after the last success; null: the last attempt succeeded, or there was none. */
    failing_since: Instant | null
    disabled_at: Instant | null
    disabled_reason: 'requested' | 'gone' | 'failing' | 'not_allowed' | 'operator' | null
    /** When to send the owners the email that it is disabled; null: none is owed. */
    notice_due_at: Instant | null
    /** The process that delivers to it; null: none. */
    lease: string | null
    leased_until: Instant | null
    created_at: Instant
    updated_at: Instant
  }
  /** What became of an event at a webhook. */
  webhook_deliveries: {
    id: Id<'whd'>
    webhook_id: Id<'whk'>
    organization_id: Id<'org'>
    brand_id: Id<'brd'> | null
    /** Of the event. */
    sequence: number
    event_id: Id<'evt'>
    type: string
    status: 'delivered' | 'retrying' | 'failed'
    /** How many were made. */
    attempt: number
    /** When the last was made, or another was asked for. */
    at: Instant
    duration_ms: number | null
    http_status: number | null
    error: string | null
    response: string | null
    /** When the next is due; null: there is none. */
    next_at: Instant | null
  }

  /** Retention times; see retention/policies. */
  retention_policies: {
    /** The id of a brand or an organization, or `instance`. */
    scope: string
    kind: string
    /** null: forever. */
    days: number | null
    set_at: Instant
  }
  /** How far the retention scan of each kind and number of days has come. */
  retention_cursors: {
    kind: string
    days: number
    position: string
  }
  /** Items that a retention scan could not delete yet, such as an email that is not sent. */
  retention_waiting: {
    kind: string
    item_id: string
    again_at: Instant
  }
  /** Work that only one process does at a time. */
  leases: {
    name: string
    holder: string
    until: Instant
  }
  /** The size of all tables in bytes, once an hour. */
  storage_samples: {
    taken_at: Instant
    bytes: number
  }

  /** People who sign in to the dashboard. One person may be a member of several organizations. */
  users: {
    id: Id<'usr'>
    /** Lower case; unique. */
    email: string
    name: string
    /** argon2id, in PHC form; null: they sign in with a passkey. */
    password_hash: string | null
    /** The authenticator's secret, encrypted; null: they have no authenticator. */
    totp_secret: string | null
    totp_sealed_by: string | null
    /** The time step of the last code that was accepted, so that none is accepted twice. */
    totp_step: number | null
    created_at: Instant
    last_sign_in_at: Instant | null
  }
  /** WebAuthn credentials. */
  passkeys: {
    id: Id<'pky'>
    user_id: Id<'usr'>
    name: string
    credential_id: Buffer
    /** COSE. */
    public_key: Buffer
    sign_count: number
    /** Separated by spaces; may be empty. */
    transports: string
    /** The host of the page that made it, at which alone it works. */
    host: string
    created_at: Instant
    last_used_at: Instant | null
  }
  /** Codes for whoever has lost every other factor, each good for one sign-in; deleted when used. */
  backup_codes: {
    user_id: Id<'usr'>
    /** SHA-256. */
    code_hash: Buffer
  }
  sessions: {
    id: Id<'ses'>
    user_id: Id<'usr'>
    /** SHA-256 of 256 random bits. */
    token_hash: Buffer
    created_at: Instant
    last_used_at: Instant
    /** At most seven days after the sign-in. */
    expires_at: Instant
    /** When a factor was last presented. */
    confirmed_at: Instant
    ip: string
    user_agent: string | null
  }
  /** Links of a single use that sign a person in without any factor. */
  login_links: {
    id: Id<'lnk'>
    /** SHA-256 of 256 random bits. */
    token_hash: Buffer
    /** Whom the link signs in: this member ... */
    member_id: Id<'mem'> | null
    /** ... or this person, who need not be a member of any organization. */
    user_id: Id<'usr'> | null
    created_at: Instant
    expires_at: Instant
    used_at: Instant | null
  }
  /** WebAuthn challenges that were answered and have not expired: none is answered twice. */
  passkey_challenges: {
    /** SHA-256 of the challenge. */
    challenge_hash: Buffer
    expires_at: Instant
  }
  /** Failed sign-ins, by the client's network and by the account, for the wait before the next. */
  sign_in_failures: {
    /** SHA-256 of what is limited. */
    subject_hash: Buffer
    failures: number
    last_at: Instant
  }
  /** People who may use the instance's screens. */
  operators: {
    user_id: Id<'usr'>
    created_at: Instant
  }
  /** The audit log of operators' commands, and of what people do in the dashboard. */
  audit_log: {
    id: Id<'aud'>
    at: Instant
    /** The user of the operating system, or the email of the person. */
    actor: string
    /** `quarantine.release` */
    action: string
    /** What the action applied to: an id, or an argument of the command. */
    subject: string
    detail: Json<Readonly<Record<string, unknown>>>
    /** The organization in which it was done; null: the instance, or the person's own account. */
    organization_id: Id<'org'> | null
    /** The client's address; null: a command. */
    ip: string | null
  }
  /** The processes that run on this database, and those that ended without deleting their row. */
  processes: {
    /** Unique for each start. */
    id: string
    host: string
    pid: number
    version: string
    /** Separated by commas. */
    roles: string
    started_at: Instant
    /** When the process last said that it runs; it does so every few seconds. */
    seen_at: Instant
    /** Since when its relay's circuit breaker is open; null: it is closed, or the process has no relay. */
    breaker_opened_at: Instant | null
    /** The reply or error that opened it. */
    breaker_reply: string | null
  }
  /** Long work that an operator started in the dashboard; see accounts/tasks. */
  operator_tasks: {
    id: Id<'tsk'>
    kind: string
    /** What it works on, such as the id of a backup. */
    subject: string
    /** The email of the person. */
    actor: string
    started_at: Instant
    /** The process extends this while it works; past it, the process is gone. */
    alive_until: Instant
    progress: Json<{ readonly what: string; readonly count: number; readonly of: number | null }> | null
    finished_at: Instant | null
    result: Json<unknown> | null
    /** Why it failed: a sentence. */
    error: string | null
  }
  /** Running backups; see backup-runs-table.ts. */
  backup_runs: {
    id: string
    started_at: Instant
    expires_at: Instant
  }
  /** Completed backups of this database. */
  backups: {
    id: string
    started_at: Instant
    finished_at: Instant
    seconds: number
    bytes: number
    /** The bytes that no earlier backup had. */
    new_bytes: number
    /** When a test restore last proved it complete. */
    proven_at: Instant | null
    /** When a test restore last found it damaged. */
    refuted_at: Instant | null
  }
  /** The backup that this database was restored from. */
  restores: {
    id: string
    started_at: Instant
    steps_done: number
    /** null: it was not finished. */
    finished_at: Instant | null
  }
}

export type Role = 'owner' | 'admin' | 'member'

export const folders = ['inbox', 'spam', 'archive', 'trash', 'quarantine'] as const
export type Folder = (typeof folders)[number]

export type ScanStatus = 'clean' | 'infected' | 'error' | 'skipped'

/** The statuses of an email and of each of its recipients. */
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
