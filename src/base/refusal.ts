/** All expected errors of API requests, in one closed catalogue. Anything else that is thrown is a bug. */
const catalogue = {
  invalid_request: { status: 400, requirement: 'fix_request' },
  invalid_json: { status: 400, requirement: 'fix_request' },
  invalid_cursor: { status: 400, requirement: 'fix_request' },
  cursor_expired: { status: 400, requirement: 'use_oldest_after' },
  brand_required: { status: 400, requirement: 'fix_request' },
  idempotency_key_invalid: { status: 400, requirement: 'fix_idempotency_key' },
  idempotency_key_reused: { status: 400, requirement: 'use_new_idempotency_key' },
  idempotency_not_supported: { status: 400, requirement: 'remove_idempotency_key' },
  missing_api_key: { status: 401, requirement: 'use_valid_api_key' },
  invalid_api_key: { status: 401, requirement: 'use_valid_api_key' },
  api_key_expired: { status: 401, requirement: 'use_valid_api_key' },
  api_key_revoked: { status: 401, requirement: 'use_valid_api_key' },
  quota_exceeded: { status: 402, requirement: 'upgrade_plan' },
  insufficient_scope: { status: 403, requirement: 'grant_scope' },
  brand_restricted: { status: 403, requirement: 'use_organization_key' },
  from_not_allowed: { status: 403, requirement: 'use_allowed_from' },
  origin_not_allowed: { status: 403, requirement: 'fix_request' },
  role_not_allowed: { status: 403, requirement: 'none' },
  dns_name_not_allowed: { status: 403, requirement: 'none' },
  attachment_infected: { status: 403, requirement: 'none' },
  attachment_unscanned: { status: 403, requirement: 'wait', retryable: true },
  not_found: { status: 404, requirement: 'check_identifier' },
  slug_taken: { status: 409, requirement: 'choose_another' },
  domain_taken: { status: 409, requirement: 'choose_another' },
  mailbox_exists: { status: 409, requirement: 'choose_another' },
  receiving_claimed: { status: 409, requirement: 'release_claim' },
  domain_in_use: { status: 409, requirement: 'remove_dependents' },
  dns_record_conflict: { status: 409, requirement: 'resolve_dns_conflict' },
  record_managed: { status: 409, requirement: 'none' },
  role_fixed: { status: 409, requirement: 'none' },
  not_scheduled: { status: 409, requirement: 'none' },
  not_in_trash: { status: 409, requirement: 'none' },
  changed_since_read: { status: 409, requirement: 'read_again' },
  invitation_closed: { status: 409, requirement: 'none' },
  last_owner: { status: 409, requirement: 'assign_owner' },
  webhook_disabled: { status: 409, requirement: 'enable_webhook' },
  payload_too_large: { status: 413, requirement: 'reduce_size' },
  attachments_too_large: { status: 413, requirement: 'reduce_size' },
  unsupported_media_type: { status: 415, requirement: 'send_json' },
  domain_not_verified: { status: 422, requirement: 'verify_domain' },
  ownership_not_verified: { status: 422, requirement: 'publish_ownership_record' },
  recipient_suppressed: { status: 422, requirement: 'remove_suppression' },
  too_many_recipients: { status: 422, requirement: 'reduce_count' },
  too_many_webhooks: { status: 422, requirement: 'reduce_count' },
  too_many_attachments: { status: 422, requirement: 'reduce_count' },
  no_content: { status: 422, requirement: 'add_content' },
  template_not_found: { status: 422, requirement: 'fix_template' },
  template_variable_missing: { status: 422, requirement: 'fix_template' },
  template_invalid: { status: 422, requirement: 'fix_template' },
  draft_incomplete: { status: 422, requirement: 'complete_draft' },
  dns_provider_not_configured: { status: 422, requirement: 'configure_dns_provider' },
  dns_zone_not_accessible: { status: 422, requirement: 'grant_zone_access' },
  no_reply_address: { status: 422, requirement: 'specify_recipient' },
  rate_limited: { status: 429, requirement: 'wait', retryable: true },
  idempotency_in_progress: { status: 429, requirement: 'wait', retryable: true },
  internal_error: { status: 500, requirement: 'retry', retryable: true },
  dns_unavailable: { status: 500, requirement: 'retry', retryable: true },
  dns_provider_error: { status: 500, requirement: 'retry', retryable: true },
  unavailable: { status: 500, requirement: 'retry', retryable: true },
} as const satisfies Catalogue

/** The expected errors of the dashboard's own requests (`/app/api`), beyond those of the API. */
const dashboardCatalogue = {
  organization_required: { status: 400, requirement: 'name_organization' },
  session_required: { status: 401, requirement: 'sign_in' },
  sign_in_failed: { status: 401, requirement: 'sign_in' },
  cross_site_request: { status: 403, requirement: 'fix_request' },
  factor_required: { status: 403, requirement: 'add_factor' },
  confirmation_required: { status: 403, requirement: 'confirm_identity' },
  operator_required: { status: 403, requirement: 'none' },
  https_required: { status: 403, requirement: 'use_https' },
  last_factor: { status: 409, requirement: 'add_factor' },
  account_exists: { status: 409, requirement: 'sign_in' },
  link_closed: { status: 409, requirement: 'ask_for_link' },
  task_running: { status: 409, requirement: 'wait', retryable: true },
  too_many_attempts: { status: 429, requirement: 'wait', retryable: true },
} as const satisfies Catalogue

type Catalogue = Readonly<Record<string, { status: number; requirement: string; retryable?: boolean }>>

const entries = { ...catalogue, ...dashboardCatalogue }

export type RefusalCode = keyof typeof entries

/** The codes of the API's errors. */
export const refusalCodes = Object.keys(catalogue) as readonly (keyof typeof catalogue)[]

/** The entry of a code in the catalogue. */
export function catalogueEntry(code: RefusalCode): { readonly status: number; readonly requirement: string } {
  return entries[code]
}

export interface RefusalDetail {
  /** A sentence for people that names the invalid value. */
  readonly message: string
  /** The invalid parameter, as a path: `to[3]`, `attachments[0].content`. */
  readonly param?: string
  readonly reason?: string
  readonly resolution?: string
  /** The cursor to go on from, where one has expired. */
  readonly oldestAfter?: string
  /** The status, where the operation gives this code with another one than the catalogue's. */
  readonly status?: 422
  /** Counts towards the limit of failed authentications of the client's address. */
  readonly isFailedAuthentication?: true
  /** When the client may retry, in seconds (Retry-After). */
  readonly retryAfterSeconds?: number
  /** For the log only; never shown to the client. */
  readonly cause?: unknown
}

/** An expected error that ends a request. Each server turns it into a response or reply of its protocol. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly status: number
  readonly requirement: string
  readonly retryable: boolean
  readonly detail: RefusalDetail

  constructor(code: RefusalCode, detail: RefusalDetail) {
    super(detail.message, { cause: detail.cause })
    const entry: { status: number; requirement: string; retryable?: boolean } = entries[code]
    this.name = 'Refusal'
    this.code = code
    this.status = detail.status ?? entry.status
    this.requirement = entry.requirement
    this.retryable = entry.retryable ?? false
    this.detail = detail
  }
}

/** Creates the refusal with this code, for the caller to throw. */
export function refuse(code: RefusalCode, detail: RefusalDetail): Refusal {
  return new Refusal(code, detail)
}
