/** The bytes of a message as they came, in memory or in a file that lives until the message is answered. */
export type MessageSource =
  | { readonly kind: 'memory'; readonly bytes: Buffer; readonly size: number }
  | { readonly kind: 'file'; readonly path: string; readonly size: number }
