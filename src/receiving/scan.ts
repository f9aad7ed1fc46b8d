import { PassThrough, Readable } from 'node:stream'
import type { FailureLog } from '../base/observability/failure-log.ts'
import { histogram } from '../base/observability/metrics.ts'
import { readMessageSummary, visitAttachments } from '../mail/message.ts'
import type { ByteRange, MessageSource } from '../mail/message-source.ts'
import type { Scanner, ScanResult } from '../ports/scanner/port.ts'
import { type FilingSummary, openContent } from './parse.ts'
import { type ReadBytes, scanDecoded } from './scan-decoded.ts'

/** The scan of a message; for an infected one also that of each attachment, by position. */
export type ScanOutcome = Exclude<ScanResult, { kind: 'infected' }> | InfectedOutcome

export interface InfectedOutcome {
  readonly kind: 'infected'
  readonly signature: string
  readonly attachments: readonly ScanResult[]
}

export interface ScanDeps {
  readonly scanner: Scanner
  readonly scanAttachments: ScanAttachments
  /** How long a message waits for a scanner that is not available, in milliseconds. */
  readonly scanWaitMs: number
  /** Logs that messages cannot be scanned, and that they can again. */
  readonly scannerFailures?: FailureLog
}

/** How large attachments in base64 come to the scanner: decoded, each by itself, or in the message as it came. */
export type ScanAttachments = 'decoded' | 'encoded'

const retryMs = 250

const scanSeconds = histogram(
  'mailroom_scan_seconds',
  'Seconds the scan of a message took, including the wait for an unavailable scanner, by result.',
  ['verdict'],
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
)
const observers = {
  clean: scanSeconds.labels('clean'),
  infected: scanSeconds.labels('infected'),
  unscanned: scanSeconds.labels('unscanned'),
} satisfies Record<ScanResult['kind'], unknown>
for (const verdict of Object.keys(observers)) scanSeconds.zero({ verdict })

/**
 * Scans the message once, its large attachments decoded; only if that finds something, each attachment, to tell which, or if
 * the message is malformed: the scanner may not find the attachments in it that we find. Stops waiting when `signal` fires.
 */
export async function scanMessage(
  content: MessageSource,
  summary: Pick<FilingSummary, 'isRepaired' | 'base64Bodies'>,
  signal: AbortSignal,
  deps: ScanDeps,
): Promise<ScanOutcome> {
  const started = performance.now()
  const bodies = bodiesApart(summary, deps)
  const whole = await scanWithRetry(() => scanDecoded(content, bodies, deps.scanner), signal, deps)
  const scan = await withAttachments(whole, summary.isRepaired, () => openContent(content), deps.scanner)
  observers[scan.kind].observe((performance.now() - started) / 1000)
  if (scan.kind !== 'unscanned') deps.scannerFailures?.succeeded()
  else if (!scan.isPermanent) deps.scannerFailures?.failed(scan.why)
  return scan
}

/** Scans a stored message again, as {@link scanMessage} does. */
export async function scanStored(
  read: ReadBytes,
  deps: Pick<ScanDeps, 'scanner' | 'scanAttachments'>,
): Promise<ScanOutcome> {
  const open = () => Readable.from(read(0), { objectMode: false })
  const summary = await readMessageSummary(open())
  const whole = await scanDecoded({ kind: 'stored', read }, bodiesApart(summary, deps), deps.scanner)
  return await withAttachments(whole, summary.isRepaired, open, deps.scanner)
}

function bodiesApart(
  { base64Bodies }: Pick<FilingSummary, 'base64Bodies'>,
  { scanAttachments }: Pick<ScanDeps, 'scanAttachments'>,
): readonly ByteRange[] {
  return scanAttachments === 'decoded' ? base64Bodies : []
}

/** The outcome for a message whose scan is known: the worst that is found in it or in one of its attachments. */
async function withAttachments(
  whole: ScanResult,
  isRepaired: boolean,
  open: () => Buffer | Readable,
  scanner: Scanner,
): Promise<ScanOutcome> {
  if (whole.kind === 'unscanned' || (whole.kind === 'clean' && !isRepaired)) return whole
  const attachments = await scanAttachments(open(), scanner)
  const infected = whole.kind === 'infected' ? whole : attachments.find(scan => scan.kind === 'infected')
  if (infected) return { ...infected, attachments }
  return attachments.find(scan => scan.kind === 'unscanned') ?? { kind: 'clean' }
}

async function scanWithRetry(
  scan: () => Promise<ScanResult>,
  signal: AbortSignal,
  deps: ScanDeps,
): Promise<ScanResult> {
  const deadline = performance.now() + deps.scanWaitMs
  const first = await scan()
  while (first.kind === 'unscanned' && !first.isPermanent && !signal.aborted && performance.now() < deadline) {
    // A scanner that answers without a verdict gives none for the same bytes later either: retry once, not for ever.
    if (await deps.scanner.isReady()) return await scan()
    await Bun.sleep(Math.min(retryMs, Math.max(deadline - performance.now(), 0)))
  }
  return first
}

/** The scan of each attachment of a message, by position. */
function scanAttachments(content: Buffer | Readable, scanner: Scanner): Promise<readonly ScanResult[]> {
  return visitAttachments(content, async stream => {
    // The scanner may destroy its stream; the parser's own stream has to flow on.
    const copy = stream.pipe(new PassThrough())
    const scan = await scanner.scan({ kind: 'stream', stream: copy })
    stream.unpipe(copy)
    return scan
  })
}
