import { whyStrings as strings } from './why-here-strings.ts'

/** What the message says about how it was filed. */
export interface FiledMessage {
  readonly folder: string
  readonly folder_reason: string
  readonly scan: string
  readonly spam: SpamFindings | null
  readonly auth: Readonly<Record<'spf' | 'dkim' | 'dmarc', AuthenticationCheck>>
}

interface SpamFindings {
  readonly score: number
  readonly required: number
  readonly symbols: readonly { readonly name: string; readonly score: number }[]
}

interface AuthenticationCheck {
  readonly result: string
  readonly domain: string | null
  readonly aligned: boolean | null
  readonly detail: string | null
}

/** Why a message is in its folder, in sentences; `checks` has one for each of SPF, DKIM, DMARC, the spam filter and the scan. */
interface WhyHere {
  readonly reason: string
  /** It is not where it was filed: somebody moved it. */
  readonly moved: string | null
  readonly checks: readonly ({ readonly name: string } & CheckSentence)[]
}

interface CheckSentence {
  readonly tone: 'good' | 'warn' | 'bad' | 'off'
  readonly text: string
}

type Reason = keyof typeof strings.reasons

/** The folder that each reason files a message into. */
const folderOf: Readonly<Record<Reason, string>> = {
  accepted: 'inbox',
  auto_reply: 'inbox',
  report: 'inbox',
  spf_fail: 'spam',
  dmarc_fail: 'spam',
  from_unchecked: 'spam',
  sender_blocked: 'spam',
  spam_filter: 'spam',
  infected: 'quarantine',
  unscanned: 'quarantine',
  released: 'inbox',
}

/** Explains where a message is. */
export function whyHere({ folder, folder_reason, scan, spam, auth }: FiledMessage): WhyHere {
  // The score follows the reason.
  const [code = ''] = folder_reason.split(' ')
  const isKnown = isReason(code)
  const filedIn = isKnown ? folderOf[code] : folder
  return {
    reason: isKnown ? strings.reasons[code] : strings.otherReason(folder_reason),
    moved: filedIn === folder ? null : strings.moved(filedIn),
    checks: [
      { name: strings.spf.name, ...spfSentence(auth.spf) },
      { name: strings.dkim.name, ...dkimSentence(auth.dkim) },
      { name: strings.dmarc.name, ...dmarcSentence(auth.dmarc) },
      ...(spam ? [{ name: strings.spam.name, ...spamSentence(spam) }] : []),
      { name: strings.scan.name, ...scanSentence(scan) },
    ],
  }
}

function isReason(text: string): text is Reason {
  return Object.hasOwn(strings.reasons, text)
}

function spfSentence({ result, domain, aligned }: AuthenticationCheck): CheckSentence {
  const words = strings.spf
  const of = domain ?? words.of
  switch (result) {
    case 'pass':
      return aligned === false ? { tone: 'off', text: words.passOther(of) } : { tone: 'good', text: words.pass(of) }
    case 'fail':
      return { tone: 'bad', text: words.fail(of) }
    case 'softfail':
      return { tone: 'warn', text: words.softfail(of) }
    case 'neutral':
      return { tone: 'off', text: words.neutral(of) }
    case 'none':
      return { tone: 'off', text: words.none(of) }
    default:
      return otherSentence(result)
  }
}

function dkimSentence({ result, domain, aligned }: AuthenticationCheck): CheckSentence {
  const words = strings.dkim
  const of = domain ?? words.of
  switch (result) {
    case 'pass':
      return aligned === false ? { tone: 'off', text: words.passOther(of) } : { tone: 'good', text: words.pass(of) }
    case 'fail':
      return { tone: 'bad', text: words.fail(of) }
    case 'policy':
    case 'neutral':
      return { tone: 'warn', text: words.unusable(of) }
    case 'none':
      return { tone: 'off', text: words.none }
    default:
      return otherSentence(result)
  }
}

function dmarcSentence({ result, domain }: AuthenticationCheck): CheckSentence {
  const words = strings.dmarc
  const of = domain ?? words.of
  switch (result) {
    case 'pass':
      return { tone: 'good', text: words.pass(of) }
    case 'fail':
      return { tone: 'bad', text: words.fail(of) }
    case 'none':
      return { tone: 'off', text: words.none(of) }
    default:
      return otherSentence(result)
  }
}

const shownSymbols = 4

function spamSentence({ score, required, symbols }: SpamFindings): CheckSentence {
  const shown = symbols
    .filter(symbol => symbol.score !== 0)
    .slice(0, shownSymbols)
    .map(symbol => `${symbol.name} ${symbol.score}`)
  return {
    tone: score >= required ? 'bad' : 'good',
    text: strings.spam.counted(score, required, shown.join(', ')),
  }
}

function scanSentence(scan: string): CheckSentence {
  const words = strings.scan
  switch (scan) {
    case 'clean':
      return { tone: 'good', text: words.clean }
    case 'infected':
      return { tone: 'bad', text: words.infected }
    case 'error':
      return { tone: 'warn', text: words.error }
    case 'skipped':
      return { tone: 'off', text: words.skipped }
    default:
      return otherSentence(scan)
  }
}

function otherSentence(result: string): CheckSentence {
  switch (result) {
    case 'temperror':
      return { tone: 'off', text: strings.temporary }
    case 'permerror':
      return { tone: 'warn', text: strings.malformed }
    default:
      return { tone: 'off', text: strings.otherResult(result) }
  }
}
