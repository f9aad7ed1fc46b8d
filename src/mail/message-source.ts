/** The bytes of a message as received, in memory or in a spool file that exists until the reply to DATA is sent. */
export type MessageSource =
  | { readonly kind: 'memory'; readonly bytes: Buffer; readonly size: number }
  | { readonly kind: 'file'; readonly path: string; readonly size: number }

/** The bytes from `start` (0-based) up to but not including `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}
