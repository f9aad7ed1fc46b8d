import type { Readable } from 'node:stream'
import type { MessageSource } from '../../mail/message-source.ts'

/**
 * What the scanner says. Only `clean` is clean: every failure, limit or doubt is `unscanned`; `isLasting` where the same
 * bytes would get the same answer again.
 */
export type ScanResult =
  | { readonly kind: 'clean' }
  | { readonly kind: 'infected'; readonly signature: string }
  | { readonly kind: 'unscanned'; readonly why: string; readonly isLasting?: boolean }

/**
 * Looks for malware. Never throws for what the scanner does. At most a configured number of scans run at once; others
 * wait their turn, within the same time limit.
 */
export interface Scanner {
  scan(what: MessageSource | { readonly kind: 'stream'; readonly stream: Readable }): Promise<ScanResult>
  /** Does the scanner answer now? For readiness and for knowing when to scan again. */
  isReady(): Promise<boolean>
}
