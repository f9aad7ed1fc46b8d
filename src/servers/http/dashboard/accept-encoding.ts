/** Content codings of the built files, the smallest first. */
export const codings = ['br', 'gzip'] as const

export type Coding = (typeof codings)[number]

/** The first of our codings that an Accept-Encoding allows; undefined: none (RFC 9110 §12.5.3). */
export function acceptedCoding(header: string | null, available: readonly Coding[]): Coding | undefined {
  const qualities = new Map(
    (header ?? '').split(',').map(entry => {
      const [name = '', ...parameters] = entry.split(';').map(part => part.trim().toLowerCase())
      const quality = parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? '1'
      return [name, Number(quality)] as const
    }),
  )
  return available.find(coding => (qualities.get(coding) ?? qualities.get('*') ?? 0) > 0)
}
