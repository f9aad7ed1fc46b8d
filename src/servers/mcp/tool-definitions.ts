/** An MCP tool, defined by an operation of the API. */
export interface ToolDefinition {
  readonly name: string
  /** Method and path as the route has them: `GET /v1/inbox/:id`. */
  readonly operation: string
  readonly title: string
  /** For the model that chooses a tool. */
  readonly description: string
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** Whether its result contains text that outsiders wrote. */
  readonly returnsUntrustedText: boolean
  /** Fields of the result that are ours here, though in other results a field of that name comes from outside. */
  readonly trustedFields?: readonly string[]
  /** Argument names that differ from the path's, by the path's name. */
  readonly renamedParameters?: Readonly<Record<string, string>>
}

type DefinitionWithoutName = Omit<ToolDefinition, 'name' | 'returnsUntrustedText'> & {
  readonly returnsUntrustedText?: false
}

/** The expected DNS record is ours; what was found instead is not. */
const recordFields = ['name', 'value']
/** The Message-ID of an email that is sent is ours; that of a received message is not. */
const sentFields = ['message_id']

/** CONTRACT, "MCP". No tool deletes a domain or a mailbox. */
const definitions: Readonly<Record<string, DefinitionWithoutName>> = {
  send_email: {
    operation: 'POST /v1/emails',
    title: 'Send an email',
    description:
      'Sends an email from a verified domain, at once or at scheduled_at. The result says that it was accepted; get_email shows whether it was delivered.',
    effect: 'changes',
    trustedFields: sentFields,
  },
  list_emails: {
    operation: 'GET /v1/emails',
    title: 'List sent emails',
    description: 'Lists sent emails, newest first. Pass next_before as before for the next page.',
    effect: 'reads',
  },
  get_email: {
    operation: 'GET /v1/emails/:id',
    title: 'Get the delivery status of a sent email',
    description: 'Returns the status of a sent email and of each recipient, with the events that led to it.',
    effect: 'reads',
    trustedFields: sentFields,
  },
  get_email_content: {
    operation: 'GET /v1/emails/:id/content',
    title: 'Get the content of a sent email',
    description: 'Returns subject, text, HTML, headers and attachment names of a sent email.',
    effect: 'reads',
  },
  list_messages: {
    operation: 'GET /v1/inbox',
    title: 'List received messages',
    description:
      'Lists received messages of a folder (by default the inbox), newest first. Pass both parts of next_cursor as cursor_at and cursor_id for the next page.',
    effect: 'reads',
  },
  search_messages: {
    operation: 'GET /v1/inbox/search',
    title: 'Search received messages',
    description:
      'Finds messages that contain all words of q; "quoted phrases" and -exclusions work. Searches all folders but trash and quarantine, or the one that is given.',
    effect: 'reads',
  },
  get_message: {
    operation: 'GET /v1/inbox/:id',
    title: 'Get a received message',
    description: 'Returns a whole received message, and marks it as read if the key may change the inbox.',
    effect: 'changes',
  },
  get_attachment: {
    operation: 'GET /v1/inbox/:id/attachments/:attachmentId',
    title: 'Get an attachment',
    description: 'Returns the bytes of an attachment of a received message in base64; at most 4 MiB.',
    effect: 'reads',
    renamedParameters: { attachmentId: 'attachment_id' },
  },
  move_message: {
    operation: 'POST /v1/inbox/:id/folder',
    title: 'Move a message',
    description: 'Moves a received message to another folder. A move to the trash can be undone with restore_message.',
    effect: 'changes',
    returnsUntrustedText: false,
  },
  mark_read: {
    operation: 'POST /v1/inbox/:id/read',
    title: 'Mark a message as read',
    description: 'Marks a received message as read or unread.',
    effect: 'changes',
    returnsUntrustedText: false,
  },
  star_message: {
    operation: 'POST /v1/inbox/:id/star',
    title: 'Star a message',
    description: 'Adds or removes the star of a received message.',
    effect: 'changes',
    returnsUntrustedText: false,
  },
  restore_message: {
    operation: 'POST /v1/inbox/:id/restore',
    title: 'Restore a message from the trash',
    description: 'Moves a message from the trash back to the inbox.',
    effect: 'changes',
    returnsUntrustedText: false,
  },
  reply_to_message: {
    operation: 'POST /v1/inbox/:id/reply',
    title: 'Reply to the sender',
    description: 'Replies to the sender of a received message, or to its Reply-To.',
    effect: 'changes',
    trustedFields: sentFields,
  },
  reply_all: {
    operation: 'POST /v1/inbox/:id/reply-all',
    title: 'Reply to all',
    description: 'Replies to the sender and to all recipients of a received message.',
    effect: 'changes',
    trustedFields: sentFields,
  },
  forward_message: {
    operation: 'POST /v1/inbox/:id/forward',
    title: 'Forward a message',
    description: 'Forwards a received message, quoted; with only the attachments that are given.',
    effect: 'changes',
    trustedFields: sentFields,
  },
  create_draft: {
    operation: 'POST /v1/drafts',
    title: 'Create a draft',
    description: 'Saves an unfinished text message. Every field is optional.',
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
    title: 'Get a draft',
    description: 'Returns a draft.',
    effect: 'reads',
  },
  update_draft: {
    operation: 'PATCH /v1/drafts/:id',
    title: 'Update a draft',
    description: 'Changes the given fields of a draft; null clears a field.',
    effect: 'changes',
  },
  send_draft: {
    operation: 'POST /v1/drafts/:id/send',
    title: 'Send a draft',
    description: 'Sends a draft and deletes it.',
    effect: 'changes',
    trustedFields: sentFields,
  },
  delete_draft: {
    operation: 'DELETE /v1/drafts/:id',
    title: 'Delete a draft',
    description: 'Deletes a draft permanently.',
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
    title: 'Get a domain',
    description: 'Returns a domain with its DNS records and whether it may send and receive.',
    effect: 'reads',
    trustedFields: recordFields,
  },
  check_domain: {
    operation: 'POST /v1/domains/:id/check',
    title: 'Check a domain',
    description: 'Checks the DNS records of a domain again.',
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
    description: 'Lists the templates for emails.',
    effect: 'reads',
    returnsUntrustedText: false,
  },
  preview_template: {
    operation: 'POST /v1/templates/:slug/preview',
    title: 'Preview a template',
    description: 'Renders a template with variables, without sending.',
    effect: 'reads',
    returnsUntrustedText: false,
  },
  check_suppression: {
    operation: 'GET /v1/suppressions/check',
    title: 'Check an address',
    description: 'Returns whether an address is on the suppression list of a brand, and why.',
    effect: 'reads',
  },
  list_events: {
    operation: 'GET /v1/events',
    title: 'Read what happened',
    description:
      'Returns what happened after a cursor, oldest first: mail received, emails delivered or bounced, domains verified and so on. Pass next_after as after for what comes next; wait holds the call until there is something. Without after it only returns the cursor of now.',
    effect: 'reads',
    trustedFields: ['next_after', 'reply_id'],
  },
  list_suppressions: {
    operation: 'GET /v1/suppressions',
    title: 'List suppressed addresses',
    description: 'Lists the addresses that emails are not sent to, with the reasons.',
    effect: 'reads',
  },
}

export const toolDefinitions: readonly ToolDefinition[] = Object.entries(definitions).map(([name, definition]) => ({
  returnsUntrustedText: true,
  ...definition,
  name,
}))
