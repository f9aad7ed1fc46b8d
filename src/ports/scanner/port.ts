import type { Readable } from 'node:stream'
import type { MessageSource } from '../../mail/message-source.ts'

/**
 * The result of a scan. Every failure, limit or doubt is `unscanned`, never `clean`. `signature`: the scanner's name for what
 * it found. `why`: for operators. `isPermanent`: scanning the same bytes again would give the same result, such as when they are
 * beyond the scanner's limits.
 */
export type ScanResult =
  | { readonly kind: 'clean' }
  | { readonly kind: 'infected'; readonly signature: string }
  | { readonly kind: 'unscanned'; readonly why: string; readonly isPermanent?: boolean }

export type ScanInput = MessageSource | { readonly kind: 'stream'; readonly stream: Readable }

/**
 * Scans for malware.
 *
 * An adapter
 * - never rejects for what the scanner does: that is `unscanned`;
 * - limits how many scans run at once; the others wait, within the time limit of the scan;
 * - resolves within its time limit, and destroys a stream that it was given, whatever happens;
 * - streams the content to the scanner: memory does not grow with its size.
 */
export interface Scanner {
  scan(content: ScanInput): Promise<ScanResult>
  /** Does the scanner answer now? For readiness, and to decide when to scan again. Never rejects. */
  isReady(): Promise<boolean>
}
