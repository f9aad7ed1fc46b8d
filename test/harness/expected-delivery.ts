import type { LedgerEntry } from './faulty-provider.ts'

/** What the API has to show for the actions of a provider. Derived from the specification, not from the code under test. */

/** The fields of an API event that are compared. */
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

/** A permanent bounce about the recipient: by its enhanced code, or by its text where there is none. */
export function isHardBounce(reply: string): boolean {
  const code = enhancedCodeOf(reply)
  return code === undefined ? /no such user/i.test(reply) : gone.has(code)
}

/** A bounce that suppresses the address only the second time, 24 hours later. */
export function isMailboxClosed(reply: string): boolean {
  return closed.has(enhancedCodeOf(reply) ?? '')
}

/** The replies of all bounces, at RCPT or reported later. */
export function bouncesOf({ rejections, reported }: LedgerEntry): readonly string[] {
  const atRcpt = rejections.filter(rejection => rejection.at === 'rcpt')
  return [...atRcpt, ...reported.filter(({ kind }) => kind === 'failed')].map(({ reply }) => reply)
}

/** The reasons to suppress the address because of this email alone; empty: it is not suppressed. */
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

/** The status of an email whose recipients have these statuses. */
export function overallStatus(statuses: readonly string[]): string | undefined {
  return precedence.find(value => statuses.includes(value))
}

const typeOfEvent = {
  delivered: 'delivered',
  relayed: 'sent',
  delayed: 'delayed',
  failed: 'bounced',
  complained: 'complained',
} as const

/** The expected events of the recipient, as sorted `type source`, without the delays of submission. */
function expectedEvents({ acknowledged, rejections, reported }: LedgerEntry, source: string): readonly string[] {
  return [
    ...Array.from({ length: acknowledged }, () => 'sent smtp'),
    ...rejections.map(({ at }) => (at === 'rcpt' ? 'bounced smtp' : 'rejected smtp')),
    ...reported.map(({ kind }) => `${typeOfEvent[kind]} ${source}`),
  ].sort()
}

/**
 * How the shown state of a recipient differs from the expected one; undefined: it does not.
 * @param suppresses whether a bounce with this reply suppresses the address
 * @param source how later events are reported
 */
export function deliveryMismatch(
  entry: LedgerEntry,
  status: string,
  events: readonly ApiEvent[],
  suppresses: (reply: string) => boolean,
  source: 'dsn' | 'provider_webhook' = 'dsn',
): string | undefined {
  const expectedState = expectedStatus(entry)
  if (status !== expectedState) return `shown as ${status}, expected ${expectedState}`
  const kinds = events.map(({ type, source }) => `${type} ${source}`)
  const shown = kinds.filter(kind => kind !== 'delayed smtp').sort()
  const expected = expectedEvents(entry, source)
  if (shown.join() !== expected.join()) return `shows ${shown}, expected ${expected}`
  const delays = kinds.length - shown.length
  if (delays > entry.deferrals) return `shows ${delays} delays, expected at most ${entry.deferrals}`
  const suppressing = events.filter(event => event.bounce?.suppressed).length
  const expectedSuppressing = bouncesOf(entry).filter(suppresses).length
  return suppressing === expectedSuppressing
    ? undefined
    : `${suppressing} bounces suppress, expected ${expectedSuppressing}`
}
