import type { Clock } from '../../base/clock.ts'
import type { StoredContentDeps } from '../emails/stored-content.ts'
import { openTemplateRenderer, type TemplateRenderer } from '../templates/renderer.ts'
import { Acceptor } from './accept.ts'
import { openDomainLookup } from './domain-lookup.ts'
import type { FindDomain } from './resolve.ts'

/** What sending is opened with. */
export interface SendingOptions extends StoredContentDeps {
  readonly clock: Clock
  /** The name of the provider that will deliver. */
  readonly provider: string
  /** Where links in emails lead, such as `https://mail.example`. */
  readonly publicUrl: string
  /** After how long without a report a `sent` recipient is shown as unconfirmed, in milliseconds; a day by default. */
  readonly unconfirmedMs?: number
  /** Is there disk space for another email? Always, by default. */
  readonly hasDiskSpace?: () => boolean

  /** Wakes the relay; called after the commit. */
  readonly wake: () => void
}

/** What sending depends on. One for a process: sends at the same time share their look-ups and commits. */
export interface SendDeps extends SendingOptions {
  readonly findDomain: FindDomain
  readonly acceptor: Pick<Acceptor, 'checkAndEnqueue' | 'acceptTogether'>
  /** Its worker starts with the first template; whoever opened the sending closes it. */
  readonly renderer: TemplateRenderer
}

/** Opens what sending needs for the life of the process. */
export function openSending(options: SendingOptions): SendDeps {
  const { db, blobs, clock, provider } = options
  return {
    ...options,
    findDomain: openDomainLookup(db),
    acceptor: new Acceptor({ db, blobs, clock, provider }),
    renderer: openTemplateRenderer(),
  }
}
