import { counter, gauge, histogram } from '../../base/observability/metrics.ts'

/** What a listener is for: `mx` receives mail for our domains, `submission` takes mail that clients send. */
export type ListenerKind = 'mx' | 'submission'

export const sessionsOpen = gauge('mailroom_smtp_sessions', 'Open SMTP sessions.', ['listener'])

export const sessionsCut = counter(
  'mailroom_smtp_sessions_cut_total',
  'SMTP sessions that the server rejected or closed, by reason.',
  ['listener', 'reason'],
)

export const loginReplies = counter(
  'mailroom_smtp_logins_total',
  'Replies to AUTH: `accepted` or the reason of the refusal.',
  ['result'],
)

export const recipientReplies = counter(
  'mailroom_smtp_recipients_total',
  'Replies to RCPT: `accepted` or the reason of the refusal.',
  ['listener', 'result'],
)

export const messageReplies = counter(
  'mailroom_smtp_messages_total',
  'Results of DATA: `accepted`, the reason of the refusal, or `client_gone`.',
  ['listener', 'result'],
)

const dataSeconds = histogram(
  'mailroom_smtp_data_seconds',
  'Time from DATA to the final dot (`transfer`), and from there to the reply (`answer`).',
  ['listener', 'part'],
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600],
)

const dataObservers = new Map<string, (seconds: number) => void>()

/** Observes a part of DATA. Cached: looking up the labels at each observation costs more than observing. */
export function observeData(listener: ListenerKind, part: 'transfer' | 'answer', seconds: number): void {
  const key = `${listener} ${part}`
  const observe = dataObservers.get(key) ?? dataSeconds.labels(listener, part).observe
  dataObservers.set(key, observe)
  observe(seconds)
}
