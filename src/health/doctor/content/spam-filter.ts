import { askRspamd } from '../../../ports/spam-filter/rspamd/http.ts'
import { passwordField, pingRspamd } from '../../../ports/spam-filter/rspamd/rspamd.ts'
import type { DoctorCheck } from '../check.ts'
import { note, ok, skipped, warning } from '../finding.ts'

const timeoutMs = 2000
/** rspamd's classifier says nothing before it has learned so many messages of each kind (`min_learns`). */
const minLearned = 200

const rspamdCheck: DoctorCheck = {
  name: 'rspamd',
  area: 'spam_filter',
  async run({ config: { rspamd } }) {
    if (rspamd === undefined) return skipped('there is no spam filter (MAILROOM_RSPAMD)')
    if (await pingRspamd(rspamd, timeoutMs)) return ok(`rspamd answers at ${rspamd}`)
    return warning(
      `rspamd does not answer at ${rspamd}`,
      'Start rspamd, or set MAILROOM_RSPAMD to the address of its normal worker. Until then mail is filed without it.',
    )
  },
}

const learningCheck: DoctorCheck = {
  name: 'spam_learning',
  area: 'spam_filter',
  async run({ config: { rspamdController: base, rspamdPassword: password = null } }) {
    if (base === undefined) return skipped('the spam filter learns nothing from moves (MAILROOM_RSPAMD_CONTROLLER)')
    const request = {
      base,
      path: '/stat',
      fields: passwordField({ password }),
      body: null,
      signal: AbortSignal.timeout(timeoutMs),
    }
    const reply = await askRspamd(request).catch((thrown: Error) => thrown)
    if (reply instanceof Error)
      return warning(
        `the controller of rspamd does not answer at ${base}: ${reply.message}`,
        'Start it, or set MAILROOM_RSPAMD_CONTROLLER to its address. Until then moves to and from spam wait for a week to be learned.',
      )
    if (reply.status !== 200)
      return warning(
        `the controller of rspamd at ${base} replied ${reply.status}`,
        'Set MAILROOM_RSPAMD_PASSWORD to its password (worker-controller.inc): moves to and from spam are not learned.',
      )
    const learned = learnedOf(reply.body)
    if (!learned) return ok(`the controller of rspamd answers at ${base}`)
    const seen = `rspamd has learned ${learned.spam} messages of spam and ${learned.ham} of ham`
    if (learned.spam >= minLearned && learned.ham >= minLearned) return ok(seen)
    return note(
      seen,
      `Its classifier begins to judge with ${minLearned} of each (min_learns): move more messages to and from spam, or teach it with rspamc learn_spam and learn_ham.`,
    )
  },
}

/** How much its classifiers have learned; undefined: it has none, or does not say. */
function learnedOf(stat: string): Readonly<Record<'spam' | 'ham', number>> | undefined {
  try {
    const { statfiles } = JSON.parse(stat) as { statfiles?: readonly { symbol: string; revision: number }[] }
    if (!Array.isArray(statfiles) || statfiles.length === 0) return undefined
    const count = (name: string) =>
      Math.max(...statfiles.map(({ symbol, revision }) => (symbol.endsWith(name) ? Number(revision) || 0 : 0)))
    return { spam: count('SPAM'), ham: count('HAM') }
  } catch {
    return undefined
  }
}

export const spamFilterChecks: readonly DoctorCheck[] = [rspamdCheck, learningCheck]
