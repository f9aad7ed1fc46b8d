/** What the message says about how it was filed. */
export interface FiledMessage {
  readonly folder: string
  readonly folder_reason: string
  readonly scan: string
  readonly auth: Readonly<Record<'spf' | 'dkim' | 'dmarc', AuthenticationCheck>>
}

export interface AuthenticationCheck {
  readonly result: string
  readonly domain: string | null
  readonly aligned: boolean | null
  readonly detail: string | null
}

/** Why a message is in its folder, in sentences; `checks` has one for each of SPF, DKIM, DMARC and the scan. */
export interface WhyHere {
  readonly reason: string
  /** It is not where it was filed: somebody moved it. */
  readonly moved: string | null
  readonly checks: readonly { readonly name: string; readonly tone: CheckTone; readonly text: string }[]
}

export type CheckTone = 'good' | 'warn' | 'bad' | 'off'

/** The folder that each reason files a message into; a message released from quarantine may be anywhere. */
const folderOf: Readonly<Record<string, string>> = {
  accepted: 'inbox',
  auto_reply: 'inbox',
  report: 'inbox',
  spf_fail: 'spam',
  dmarc_fail: 'spam',
  from_unchecked: 'spam',
  infected: 'quarantine',
  unscanned: 'quarantine',
  released: 'inbox',
}

const reasons: Readonly<Record<string, string>> = {
  accepted: 'It came to one of your mailboxes, and nothing spoke against it.',
  auto_reply: 'It is an automatic reply, and nothing spoke against it. It is not counted as an answer to your email.',
  report: 'It is a report on an email of yours: what it says stands with that email.',
  dmarc_fail:
    'The domain in From asks, by its DMARC policy, not to trust mail that fails its checks, and this message fails them.',
  spf_fail:
    'The server that sent it is not among those that the sender’s domain allows (SPF), no signature makes up for it, and the domain has no DMARC policy.',
  from_unchecked: 'Its From has no domain that could be checked, so nobody can tell who sent it.',
  infected: 'The virus scanner found something in it. It cannot be downloaded; an operator can look at it.',
  unscanned: 'It could not be scanned for viruses yet. It is scanned again, and moves by itself once nothing is found.',
  released: 'An operator released it from quarantine.',
}

/** Explains where a message is. */
export function whyHere({ folder, folder_reason, scan, auth }: FiledMessage): WhyHere {
  const filedIn = folderOf[folder_reason]
  return {
    reason: reasons[folder_reason] ?? `The server gave the reason “${folder_reason}”.`,
    moved:
      filedIn === undefined || filedIn === folder ? null : `It was filed in ${filedIn} first, and moved here later.`,
    checks: [
      { name: 'SPF', ...spfSentence(auth.spf) },
      { name: 'DKIM', ...dkimSentence(auth.dkim) },
      { name: 'DMARC', ...dmarcSentence(auth.dmarc) },
      { name: 'Scan', ...scanSentence(scan) },
    ],
  }
}

interface CheckSentence {
  readonly tone: CheckTone
  readonly text: string
}

const broken: Readonly<Record<string, CheckSentence>> = {
  temperror: { tone: 'off', text: 'The DNS of the sender did not answer at the time, so it says nothing.' },
  permerror: { tone: 'warn', text: 'What the sender’s domain publishes is malformed, so it says nothing.' },
}

function spfSentence({ result, domain, aligned }: AuthenticationCheck): CheckSentence {
  const of = domain ?? 'the sender’s domain'
  switch (result) {
    case 'pass':
      return aligned === false
        ? { tone: 'off', text: `${of} allows the server that sent it, but is another domain than the one in From.` }
        : { tone: 'good', text: `${of} allows the server that sent it.` }
    case 'fail':
      return { tone: 'bad', text: `${of} does not allow the server that sent it. Forwarded mail fails this too.` }
    case 'softfail':
      return {
        tone: 'warn',
        text: `${of} probably does not allow the server that sent it, and does not say so firmly.`,
      }
    case 'neutral':
      return { tone: 'off', text: `${of} says nothing about the server that sent it.` }
    case 'none':
      return { tone: 'off', text: `${of} publishes no list of its servers.` }
    default:
      return broken[result] ?? unknownResult(result)
  }
}

function dkimSentence({ result, domain, aligned }: AuthenticationCheck): CheckSentence {
  const of = domain ?? 'the signing domain'
  switch (result) {
    case 'pass':
      return aligned === false
        ? { tone: 'off', text: `A valid signature of ${of}, which is another domain than the one in From.` }
        : { tone: 'good', text: `A valid signature of ${of}: it was not changed on its way.` }
    case 'fail':
      return {
        tone: 'bad',
        text: `The signature of ${of} does not fit: the message was changed, or it was not signed by it.`,
      }
    case 'policy':
    case 'neutral':
      return { tone: 'warn', text: `The signature of ${of} could not be used.` }
    case 'none':
      return { tone: 'off', text: 'It carries no signature.' }
    default:
      return broken[result] ?? unknownResult(result)
  }
}

function dmarcSentence({ result, domain }: AuthenticationCheck): CheckSentence {
  const of = domain ?? 'the domain in From'
  switch (result) {
    case 'pass':
      return { tone: 'good', text: `It really comes from ${of}.` }
    case 'fail':
      return { tone: 'bad', text: `Neither SPF nor DKIM shows that it comes from ${of}.` }
    case 'none':
      return { tone: 'off', text: `${of} does not say what to do with mail that fails the checks.` }
    default:
      return broken[result] ?? unknownResult(result)
  }
}

function scanSentence(scan: string): CheckSentence {
  switch (scan) {
    case 'clean':
      return { tone: 'good', text: 'The virus scanner found nothing.' }
    case 'infected':
      return { tone: 'bad', text: 'The virus scanner found something.' }
    case 'error':
      return { tone: 'warn', text: 'The virus scanner was not available, or could not read it.' }
    case 'skipped':
      return { tone: 'off', text: 'This server has no virus scanner, or an operator released it.' }
    default:
      return unknownResult(scan)
  }
}

function unknownResult(result: string): CheckSentence {
  return { tone: 'off', text: `The result is “${result}”.` }
}
