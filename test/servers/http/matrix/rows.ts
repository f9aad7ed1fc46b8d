import type { ResourceKind, Resources } from './resources.ts'

/** A valid request of an operation, and the resources that it refers to. */
export interface MatrixRow {
  /** The kind of resource of each path parameter. */
  readonly path?: Readonly<Record<string, ResourceKind>>
  readonly query?: (own: Resources) => Readonly<Record<string, string>>
  readonly body?: (own: Resources) => Readonly<Record<string, unknown>>
  /** The kinds of identifiers in query or body: one of another organization is refused with 404 and this parameter. */
  readonly refers?: Readonly<Record<string, ResourceKind>>
  /** The status of the response. */
  readonly status: number
  /**
   * What a key restricted to another brand gets: nothing of this brand (of the request log, its own requests), a refusal of
   * every entry of the response, or a refusal.
   */
  readonly otherBrand:
    | 'nothing'
    | 'its requests'
    | { readonly everyEntry: string }
    | { readonly code: string; readonly param?: string }
}

const refused = { code: 'brand_restricted' } as const
const refusedFor = (param: string) => ({ code: 'brand_restricted', param }) as const
const ofBrand = (own: Resources) => ({ brand_id: own.brand })
const brandRefers = { refers: { brand_id: 'brand' }, otherBrand: refusedFor('brand_id') } as const
const fresh = () => Math.random().toString(36).slice(2)

/** By operationId, in an order in which all requests can succeed. */
export const rows: Readonly<Record<string, MatrixRow>> = {
  listBrands: { status: 200, otherBrand: 'nothing' },
  createBrand: { body: () => ({ name: 'New', slug: `new-${fresh()}` }), status: 201, otherBrand: refused },
  getBrand: { path: { id: 'brand' }, status: 200, otherBrand: refused },
  updateBrand: { path: { id: 'brand' }, body: () => ({ name: 'Newer' }), status: 200, otherBrand: refused },
  provisionBrand: { path: { id: 'brand' }, status: 200, otherBrand: refused },

  getOwnership: {
    query: own => ({ domain: 'new.test', brand_id: own.brand }),
    status: 200,
    ...brandRefers,
  },
  createDomain: {
    body: own => ({ brand_id: own.brand, domain: own.provenName }),
    status: 201,
    ...brandRefers,
  },
  listDomains: { status: 200, otherBrand: 'nothing' },
  getDomain: { path: { id: 'domain' }, status: 200, otherBrand: refused },
  provisionDomain: { path: { id: 'domain' }, status: 200, otherBrand: refused },
  checkDomain: { path: { id: 'domain' }, status: 200, otherBrand: refused },
  claimReceiving: { path: { id: 'domain' }, status: 200, otherBrand: refused },
  publishDns: { path: { id: 'domain' }, status: 200, otherBrand: refused },
  getDns: { path: { id: 'domain' }, status: 200, otherBrand: refused },
  listDnsRecords: { path: { id: 'domain' }, status: 200, otherBrand: refused },
  createDnsRecord: {
    path: { id: 'domain' },
    body: own => ({ type: 'TXT', name: `_new.${own.domainName}`, value: 'new' }),
    status: 201,
    otherBrand: refused,
  },
  getDnsRecord: { path: { id: 'domain', record_id: 'record' }, status: 200, otherBrand: refused },
  updateDnsRecord: {
    path: { id: 'domain', record_id: 'record' },
    body: () => ({ value: '192.0.2.2' }),
    status: 200,
    otherBrand: refused,
  },
  deleteDnsRecord: { path: { id: 'domain', record_id: 'record' }, status: 200, otherBrand: refused },
  deleteDomain: { path: { id: 'spareDomain' }, status: 200, otherBrand: refused },

  createMailbox: {
    body: own => ({ domain_id: own.domain, local_part: 'new' }),
    refers: { domain_id: 'domain' },
    status: 201,
    otherBrand: refusedFor('domain_id'),
  },
  listMailboxes: { status: 200, otherBrand: 'nothing' },
  deleteMailbox: { path: { id: 'spareMailbox' }, status: 200, otherBrand: refused },

  sendEmail: {
    body: own => ({ from: `hello@${own.domainName}`, to: 'you@friend.test', subject: 'Hello', text: 'Hello' }),
    status: 202,
    otherBrand: { code: 'from_not_allowed', param: 'from' },
  },
  sendBatch: {
    body: own => ({
      emails: [{ from: `hello@${own.domainName}`, to: 'you@friend.test', subject: 'Hello', text: 'Hello' }],
    }),
    status: 200,
    otherBrand: { everyEntry: 'from_not_allowed' },
  },
  listEmails: { status: 200, otherBrand: 'nothing' },
  getEmail: { path: { id: 'email' }, status: 200, otherBrand: refused },
  getEmailContent: { path: { id: 'email' }, status: 200, otherBrand: refused },
  getEmailAttachment: {
    path: { id: 'email', attachment_id: 'sentAttachment' },
    status: 200,
    otherBrand: refused,
  },
  cancelEmail: { path: { id: 'scheduled' }, status: 200, otherBrand: refused },

  listSuppressions: { status: 200, otherBrand: 'nothing' },
  createSuppression: {
    body: own => ({ brand_id: own.brand, email: 'new@friend.test' }),
    status: 201,
    ...brandRefers,
  },
  checkSuppression: {
    query: own => ({ brand_id: own.brand, email: own.suppressed }),
    status: 200,
    ...brandRefers,
  },
  deleteSuppression: { path: { email: 'suppressed' }, query: ofBrand, status: 200, ...brandRefers },

  createTemplate: {
    body: own => ({ brand_id: own.brand, slug: `new-${fresh()}`, name: 'New', subject: 'New', text: 'New' }),
    status: 201,
    ...brandRefers,
  },
  listTemplates: { status: 200, otherBrand: 'nothing' },
  getTemplate: { path: { slug: 'template' }, query: ofBrand, status: 200, ...brandRefers },
  updateTemplate: {
    path: { slug: 'template' },
    query: ofBrand,
    body: () => ({ name: 'Newer' }),
    status: 200,
    ...brandRefers,
  },
  previewTemplate: {
    path: { slug: 'template' },
    body: own => ({ brand_id: own.brand, variables: {} }),
    status: 200,
    ...brandRefers,
  },
  deleteTemplate: { path: { slug: 'template' }, query: ofBrand, status: 200, ...brandRefers },

  createDraft: { body: () => ({ subject: 'New' }), status: 201, otherBrand: refused },
  listDrafts: { status: 200, otherBrand: refused },
  getDraft: { path: { id: 'draft' }, status: 200, otherBrand: refused },
  updateDraft: { path: { id: 'draft' }, body: () => ({ subject: 'Newer' }), status: 200, otherBrand: refused },
  deleteDraft: { path: { id: 'draft' }, status: 200, otherBrand: refused },
  sendDraft: { path: { id: 'finished' }, status: 202, otherBrand: refused },

  listMessages: { status: 200, otherBrand: 'nothing' },
  searchMessages: { query: () => ({ q: 'hello' }), status: 200, otherBrand: 'nothing' },
  getMessage: { path: { id: 'message' }, status: 200, otherBrand: refused },
  getRawMessage: { path: { id: 'message' }, status: 200, otherBrand: refused },
  getAttachment: { path: { id: 'message', attachmentId: 'attachment' }, status: 200, otherBrand: refused },
  markMessage: { path: { id: 'message' }, body: () => ({ read: true }), status: 200, otherBrand: refused },
  starMessage: { path: { id: 'message' }, body: () => ({ starred: true }), status: 200, otherBrand: refused },
  changeMessages: { body: own => ({ ids: [own.message], read: true }), status: 200, otherBrand: 'nothing' },
  replyToMessage: { path: { id: 'message' }, body: () => ({ text: 'Yes' }), status: 202, otherBrand: refused },
  replyToAll: { path: { id: 'message' }, body: () => ({ text: 'Yes' }), status: 202, otherBrand: refused },
  forwardMessage: {
    path: { id: 'message' },
    body: () => ({ to: 'you@friend.test' }),
    status: 202,
    otherBrand: refused,
  },
  moveMessage: { path: { id: 'message' }, body: () => ({ folder: 'archive' }), status: 200, otherBrand: refused },
  trashMessage: { path: { id: 'message' }, status: 200, otherBrand: refused },
  restoreMessage: { path: { id: 'message' }, status: 200, otherBrand: refused },

  listRequests: { status: 200, otherBrand: 'its requests' },
  listEvents: {
    query: own => ({ ...ofBrand(own), after: '0', types: 'email.queued' }),
    status: 200,
    ...brandRefers,
  },

  listMembers: { status: 200, otherBrand: refused },
  getMember: { path: { id: 'member' }, status: 200, otherBrand: refused },
  updateMember: {
    path: { id: 'member' },
    body: () => ({ permissions: ['email:send'] }),
    status: 200,
    otherBrand: refused,
  },
  removeMember: { path: { id: 'member' }, status: 200, otherBrand: refused },
  listInvitations: { status: 200, otherBrand: refused },
  getInvitation: { path: { id: 'invitation' }, status: 200, otherBrand: refused },
  createInvitation: {
    body: own => ({ brand_ids: [own.brand], permissions: ['email:read'] }),
    status: 201,
    otherBrand: refused,
  },
  updateInvitation: {
    path: { id: 'invitation' },
    body: () => ({ permissions: ['email:send'] }),
    status: 200,
    otherBrand: refused,
  },
  createWebhook: {
    body: own => ({ url: `https://hooks.${own.domainName}/new`, types: ['brand.paused'], brand_id: own.brand }),
    status: 201,
    ...brandRefers,
  },
  listWebhooks: { status: 200, otherBrand: 'nothing' },
  getWebhook: { path: { id: 'webhook' }, status: 200, otherBrand: refused },
  updateWebhook: { path: { id: 'webhook' }, body: () => ({ description: 'Newer' }), status: 200, otherBrand: refused },
  rotateWebhookSecret: {
    path: { id: 'webhook' },
    body: () => ({ grace_seconds: 3600 }),
    status: 200,
    otherBrand: refused,
  },
  testWebhook: { path: { id: 'webhook' }, status: 200, otherBrand: refused },
  listWebhookDeliveries: { path: { id: 'webhook' }, status: 200, otherBrand: refused },
  retryWebhookDelivery: {
    path: { id: 'webhook', delivery_id: 'delivery' },
    status: 200,
    otherBrand: refused,
  },
  replayWebhook: {
    path: { id: 'webhook' },
    body: () => ({ from: '2026-01-31T08:15:00.000000Z', only: 'failed' }),
    status: 200,
    otherBrand: refused,
  },
  deleteWebhook: { path: { id: 'spareWebhook' }, status: 200, otherBrand: refused },

  revokeInvitation: { path: { id: 'invitation' }, status: 200, otherBrand: refused },
}
