import { Api } from './api.ts'
import type { MailroomOptions } from './options.ts'
import { draftsOf, suppressionsOf, templatesOf } from './resources/content.ts'
import { domainsOf } from './resources/domains.ts'
import { emailsOf } from './resources/emails.ts'
import { eventsOf } from './resources/events.ts'
import { inboxOf } from './resources/inbox.ts'
import { brandsOf, invitationsOf, mailboxesOf, membersOf, requestsOf } from './resources/organization.ts'
import { webhooksOf } from './resources/webhooks.ts'

/**
 * Mailroom's API.
 *
 * ```ts
 * const mailroom = new Mailroom({ url: 'https://mail.example.com', key: process.env.MAILROOM_KEY })
 * await mailroom.emails.send({ from: 'hello@example.com', to: 'you@example.net', subject: 'Hello', text: 'Hello.' })
 * ```
 * Fields are named as the API names them. A call that fails rejects with a MailroomError, or with a MailroomConnectionError
 * when there was no answer.
 */
export class Mailroom {
  readonly emails: ReturnType<typeof emailsOf>
  readonly inbox: ReturnType<typeof inboxOf>
  readonly events: ReturnType<typeof eventsOf>
  readonly webhooks: ReturnType<typeof webhooksOf>
  readonly templates: ReturnType<typeof templatesOf>
  readonly drafts: ReturnType<typeof draftsOf>
  readonly suppressions: ReturnType<typeof suppressionsOf>
  readonly brands: ReturnType<typeof brandsOf>
  readonly domains: ReturnType<typeof domainsOf>
  readonly mailboxes: ReturnType<typeof mailboxesOf>
  readonly members: ReturnType<typeof membersOf>
  readonly invitations: ReturnType<typeof invitationsOf>
  readonly requests: ReturnType<typeof requestsOf>

  constructor(options: MailroomOptions) {
    if (!/^https?:\/\//.test(options.url))
      throw new TypeError('url is where Mailroom is, such as https://mail.example.com')
    if (!options.key) throw new TypeError('key is an API key of Mailroom, and it is missing')
    const api = new Api(options)
    this.emails = emailsOf(api)
    this.inbox = inboxOf(api)
    this.events = eventsOf(api)
    this.webhooks = webhooksOf(api)
    this.templates = templatesOf(api)
    this.drafts = draftsOf(api)
    this.suppressions = suppressionsOf(api)
    this.brands = brandsOf(api)
    this.domains = domainsOf(api)
    this.mailboxes = mailboxesOf(api)
    this.members = membersOf(api)
    this.invitations = invitationsOf(api)
    this.requests = requestsOf(api)
  }
}
