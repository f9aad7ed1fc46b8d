/** A tool, and the operation of the API that it is. */
export interface ToolDefinition {
  readonly name: string
  /** As routes say it: `GET /v1/inbox/:id`. */
  readonly operation: string
  readonly title: string
  /** For the model that chooses a tool. */
  readonly description: string
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** Does its answer hold text that people outside wrote? */
  readonly returnsUntrustedText: boolean
  /** Fields of the answer that are ours here, though elsewhere a field of that name comes from outside. */
  readonly trustedFields?: readonly string[]
  /** Parameters that are named otherwise than in the path. */
  readonly renamedParameters?: Readonly<Record<string, string>>
}

type Entry = Omit<ToolDefinition, 'name' | 'returnsUntrustedText'> & { readonly returnsUntrustedText?: false }

/** What a DNS record is to be; what was found instead is not ours. */
const recordFields = ['name', 'value']

/** CONTRACT, "MCP". No tool deletes a domain or a mailbox. */
const entries: Readonly<Record<string, Entry>> = {
  send_email: {
    operation: 'POST /v1/emails',
    title: 'Send an email',
    description:
      'Sends an email from a verified domain, at once or at scheduled_at. Accepted is not delivered: get_email tells.',
    effect: 'changes',
  },
  list_emails: {
    operation: 'GET /v1/emails',
    title: 'List sent emails',
    description: 'Lists sent emails, newest first. Pass next_before as before for the next page.',
    effect: 'reads',
  },
  get_email: {
    operation: 'GET /v1/emails/:id',
    title: 'Read the delivery of a sent email',
    description: 'Gives the status of a sent email, of each recipient, and the events with their evidence.',
    effect: 'reads',
  },
  get_email_content: {
    operation: 'GET /v1/emails/:id/content',
    title: 'Read what a sent email held',
    description: 'Gives subject, text, HTML, headers and attachment names of a sent email.',
    effect: 'reads',
  },
  list_messages: {
    operation: 'GET /v1/inbox',
    title: 'List received messages',
    description:
      'Lists received messages of a folder (inbox unless said otherwise), newest first. Pass both parts of next_cursor as cursor_at and cursor_id for the next page.',
    effect: 'reads',
  },
  search_messages: {
    operation: 'GET /v1/inbox/search',
    title: 'Search received messages',
    description: 'Finds messages that hold all words of q; "quoted phrases" and -exclusions are understood.',
    effect: 'reads',
  },
  get_message: {
    operation: 'GET /v1/inbox/:id',
    title: 'Read a received message',
    description: 'Gives a received message whole. It is marked read when the key may change the inbox.',
    effect: 'changes',
  },
  get_attachment: {
    operation: 'GET /v1/inbox/:id/attachments/:attachmentId',
    title: 'Read an attachment',
    description: 'Gives the bytes of an attachment of a received message, as base64; at most 4 MiB.',
    effect: 'reads',
    renamedParameters: { attachmentId: 'attachment_id' },
  },
  move_message: {
    operation: 'POST /v1/inbox/:id/folder',
    title: 'Move a message',
    description: 'Moves a received message to another folder. Moving to trash can be undone with restore_message.',
    effect: 'changes',
    returnsUntrustedText: false,
  },
  mark_read: {
    operation: 'POST /v1/inbox/:id/read',
    title: 'Mark a message read',
    description: 'Marks a received message read, or unread.',
    effect: 'changes',
    returnsUntrustedText: false,
  },
  star_message: {
    operation: 'POST /v1/inbox/:id/star',
    title: 'Star a message',
    description: 'Stars a received message, or takes its star.',
    effect: 'changes',
    returnsUntrustedText: false,
  },
  restore_message: {
    operation: 'POST /v1/inbox/:id/restore',
    title: 'Take a message out of the trash',
    description: 'Brings a message in the trash back to the inbox.',
    effect: 'changes',
    returnsUntrustedText: false,
  },
  reply_to_message: {
    operation: 'POST /v1/inbox/:id/reply',
    title: 'Reply to the sender',
    description: 'Sends an answer to the sender of a received message, or to its Reply-To.',
    effect: 'changes',
  },
  reply_all: {
    operation: 'POST /v1/inbox/:id/reply-all',
    title: 'Reply to all',
    description: 'Sends an answer to the sender and to the recipients of a received message.',
    effect: 'changes',
  },
  forward_message: {
    operation: 'POST /v1/inbox/:id/forward',
    title: 'Forward a message',
    description: 'Sends a received message on, quoted; attachments only as far as they are given.',
    effect: 'changes',
  },
  create_draft: {
    operation: 'POST /v1/drafts',
    title: 'Create a draft',
    description: 'Keeps an unfinished text message. Every field may be left out.',
    effect: 'changes',
  },
  list_drafts: {
    operation: 'GET /v1/drafts',
    title: 'List drafts',
    description: 'Lists the drafts of the organization.',
    effect: 'reads',
  },
  get_draft: {
    operation: 'GET /v1/drafts/:id',
    title: 'Read a draft',
    description: 'Gives a draft.',
    effect: 'reads',
  },
  update_draft: {
    operation: 'PATCH /v1/drafts/:id',
    title: 'Change a draft',
    description: 'Changes the given fields of a draft; null empties a field.',
    effect: 'changes',
  },
  send_draft: {
    operation: 'POST /v1/drafts/:id/send',
    title: 'Send a draft',
    description: 'Sends a draft, which is then gone.',
    effect: 'changes',
  },
  delete_draft: {
    operation: 'DELETE /v1/drafts/:id',
    title: 'Delete a draft',
    description: 'Deletes a draft for good.',
    effect: 'destroys',
    returnsUntrustedText: false,
  },
  list_domains: {
    operation: 'GET /v1/domains',
    title: 'List domains',
    description: 'Lists the domains with their DNS records and whether they may send and receive.',
    effect: 'reads',
    trustedFields: recordFields,
  },
  get_domain: {
    operation: 'GET /v1/domains/:id',
    title: 'Read a domain',
    description: 'Gives a domain with its DNS records and whether it may send and receive.',
    effect: 'reads',
    trustedFields: recordFields,
  },
  check_domain: {
    operation: 'POST /v1/domains/:id/check',
    title: 'Check a domain',
    description: 'Looks at the DNS records of a domain again.',
    effect: 'changes',
    trustedFields: recordFields,
  },
  list_mailboxes: {
    operation: 'GET /v1/mailboxes',
    title: 'List mailboxes',
    description: 'Lists the addresses that receive mail.',
    effect: 'reads',
    returnsUntrustedText: false,
  },
  list_templates: {
    operation: 'GET /v1/templates',
    title: 'List templates',
    description: 'Lists the templates that emails can be made from.',
    effect: 'reads',
    returnsUntrustedText: false,
  },
  preview_template: {
    operation: 'POST /v1/templates/:slug/preview',
    title: 'Preview a template',
    description: 'Renders a template with variables; sends nothing.',
    effect: 'reads',
    returnsUntrustedText: false,
  },
  check_suppression: {
    operation: 'GET /v1/suppressions/check',
    title: 'Check an address',
    description: 'Tells whether an address is on the suppression list of a brand, and why.',
    effect: 'reads',
  },
  list_suppressions: {
    operation: 'GET /v1/suppressions',
    title: 'List suppressed addresses',
    description: 'Lists the addresses that are not sent to, with the evidence.',
    effect: 'reads',
  },
}

export const toolDefinitions: readonly ToolDefinition[] = Object.entries(entries).map(([name, entry]) => ({
  returnsUntrustedText: true,
  ...entry,
  name,
}))
