/** The entity tag of this content. */
export function etagOf(content: string | Uint8Array<ArrayBuffer>): string {
  return `"${new Bun.CryptoHasher('sha256').update(content).digest('base64url').slice(0, 22)}"`
}

/** Has the client this version already, so that it gets 304? RFC 9110 §13.1.2. */
export function isNotModified({ headers }: Pick<Request, 'headers'>, etag: string): boolean {
  const cached = (headers.get('if-none-match') ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''))
  return cached.includes(etag) || cached.includes('*')
}
