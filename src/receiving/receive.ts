import type { Log } from '../base/log.ts'
import { counter, timed } from '../base/metrics.ts'
import type { Blobs } from '../ports/blobs/port.ts'
import { decide, type Policy } from './decide.ts'
import type { Incoming } from './incoming.ts'
import type { Parse } from './parse.ts'
import { refuseMail, SmtpRefusal } from './refusal.ts'
import type { Fileable } from './rows.ts'
import { type Scanning, scanMessage } from './scan.ts'
import { store } from './store.ts'
import { type Verifying, verify } from './verify.ts'

/** What the way in works with. */
export interface Receiving extends Scanning, Verifying {
  readonly parse: Parse
  readonly policy: Policy
  readonly blobs: Blobs
  readonly file: (what: Fileable) => Promise<{ readonly id: string }>
  readonly log: Log
}

const received = counter('mailroom_received_total', 'Messages after DATA, by what became of them.', ['outcome'])

/**
 * The way in: what happens to a message between its final dot and our answer. Resolves once it is filed for good.
 * @throws SmtpRefusal: what the sender must change (5yz), or our trouble (4yz).
 */
export async function receive(mail: Incoming, use: Receiving): Promise<{ readonly id: string }> {
  try {
    return await takeIn(mail, use)
  } catch (error) {
    const refusal = error instanceof SmtpRefusal ? error : refuseMail('our_trouble', { cause: error })
    received.inc({ outcome: refusal.code })
    if (refusal !== error) use.log.error({ err: error, transaction_id: mail.id }, 'could not receive a message')
    throw refusal
  }
}

async function takeIn(mail: Incoming, use: Receiving): Promise<{ readonly id: string }> {
  const [{ verdicts, isResolverAway }, { outline, scan }] = await Promise.all([
    timed('in', 'verify', () => verify(mail, use)),
    parseAndScan(mail, use),
  ])
  const decision = decide({ verdicts, isResolverAway, scan, outline }, use.policy)
  if (decision.kind === 'refuse') throw refuseMail(decision.code)
  const bytes = await timed('in', 'store', () => store(mail, use.blobs))
  const filed = await timed('in', 'file', () => use.file({ mail, verdicts, scan, outline, filing: decision, bytes }))
  received.inc({ outcome: decision.folder })
  return filed
}

/** The parser knows at once what the scanner would take seconds to give up on. */
async function parseAndScan({ content, signal }: Incoming, use: Receiving) {
  const outline = await timed('in', 'parse', () => use.parse(content))
  const scan = outline.isBeyondScanning
    ? beyondScanning
    : await timed('in', 'scan', () => scanMessage(content, signal, use))
  return { outline, scan }
}

const beyondScanning = { kind: 'unscanned', why: 'it has too many parts', isLasting: true } as const
