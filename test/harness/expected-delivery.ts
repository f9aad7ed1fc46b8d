import type { LedgerEntry } from './faulty-provider.ts'

/** What the API is to show of what a provider did. Written from the contract, not from the code that it judges. */

/** An event as the API shows it, as far as it matters here. */
export interface ApiEvent {
  readonly type: string
  readonly source: string
  readonly bounce: { readonly suppressed: boolean } | null
}

const gone = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10'])
const closed = new Set(['5.2.1', '5.4.1'])

function enhancedCodeOf(reply: string): string | undefined {
  return /^\d{3} (\d\.\d+\.\d+) /.exec(reply)?.[1]
}

/** "Permanent bounces about the recipient", and the texts of systems that say it otherwise. */
export function isHardBounce(reply: string): boolean {
  const code = enhancedCodeOf(reply)
  return code === undefined ? /no such user/i.test(reply) : gone.has(code)
}

/** "Only twice, 24 h apart". */
export function isMailboxClosed(reply: string): boolean {
  return closed.has(enhancedCodeOf(reply) ?? '')
}

/** Every bounce that the other side was told of, at RCPT or later. */
export function bouncesOf({ rejections, reported }: LedgerEntry): readonly string[] {
  const atRcpt = rejections.filter(rejection => rejection.at === 'rcpt')
  return [...atRcpt, ...reported.filter(plannedEvent => plannedEvent.kind === 'failed')].map(each => each.reply)
}

/** For what reasons the address is to be suppressed because of this email alone; none: it is not. */
export function expectedSuppressionReasons(entry: LedgerEntry): readonly string[] {
  const reasons = bouncesOf(entry).some(isHardBounce) ? ['hard_bounce'] : []
  return entry.reported.some(plannedEvent => plannedEvent.kind === 'complained') ? [...reasons, 'complaint'] : reasons
}

/** "A late `sent` or `delayed` never replaces `delivered`, `bounced` or `complained`"; a late bounce beats `delivered`. */
export function expectedStatus({ rejections, reported }: LedgerEntry): string {
  const kinds = new Set(reported.map(plannedEvent => plannedEvent.kind))
  if (kinds.has('complained')) return 'complained'
  if (kinds.has('failed') || rejections.some(rejection => rejection.at === 'rcpt')) return 'bounced'
  if (kinds.has('delivered')) return 'delivered'
  if (rejections.length > 0) return 'rejected'
  return kinds.has('delayed') ? 'delayed' : 'sent'
}

const precedence = ['failed', 'rejected', 'bounced', 'complained', 'delayed', 'sent', 'delivered', 'suppressed']

/** The status of an email whose recipients have these. */
export function overallStatus(statuses: readonly string[]): string | undefined {
  return precedence.find(value => statuses.includes(value))
}

const typeOfNews = {
  delivered: 'delivered',
  relayed: 'sent',
  delayed: 'delayed',
  failed: 'bounced',
  complained: 'complained',
} as const

/** How often each event of the recipient is there, as `type source`, but for the delays that were met on the way out. */
function expectedEvents({ acknowledged, rejections, reported }: LedgerEntry, source: string): readonly string[] {
  return [
    ...Array.from({ length: acknowledged }, () => 'sent smtp'),
    ...rejections.map(({ at }) => (at === 'rcpt' ? 'bounced smtp' : 'rejected smtp')),
    ...reported.map(({ kind }) => `${typeOfNews[kind]} ${source}`),
  ].sort()
}

/**
 * What is wrong with what is shown of a recipient; undefined: nothing.
 * @param isKept is a bounce with this reply to suppress it?
 * @param source how what happened later was told
 */
export function deliveryMismatch(
  entry: LedgerEntry,
  status: string,
  events: readonly ApiEvent[],
  isKept: (reply: string) => boolean,
  source: 'dsn' | 'provider_webhook' = 'dsn',
): string | undefined {
  const wanted = expectedStatus(entry)
  if (status !== wanted) return `shown as ${status}, is ${wanted}`
  const kinds = events.map(({ type, source }) => `${type} ${source}`)
  const shown = kinds.filter(kind => kind !== 'delayed smtp').sort()
  const expected = expectedEvents(entry, source)
  if (shown.join() !== expected.join()) return `shows ${shown}, had ${expected}`
  const delays = kinds.length - shown.length
  if (delays > entry.deferrals) return `shows ${delays} delays, had ${entry.deferrals}`
  const suppressing = events.filter(event => event.bounce?.suppressed).length
  const keeping = bouncesOf(entry).filter(isKept).length
  return suppressing === keeping ? undefined : `${suppressing} bounces suppress, ${keeping} are to`
}
