import MimeNode from 'nodemailer/lib/mime-node'

/** What nodemailer does not declare of a part. */
interface PartInternals {
  _normalizeHeaderKey(name: unknown): string
}

/** Clients may give fields of any name. */
const maxRemembered = 512

/**
 * nodemailer writes the names of header fields in their usual case (`MIME-Version`) with several regular expressions, some
 * sixty times for each message: a quarter of the time in which one is composed. Here it remembers what they were written as,
 * which follows from the name alone.
 */
export function rememberFieldNames(): void {
  const part = MimeNode.prototype as unknown as PartInternals
  const normalize = part._normalizeHeaderKey
  const remembered = new Map<unknown, string>()
  part._normalizeHeaderKey = function (name) {
    const known = remembered.get(name)
    if (known !== undefined) return known
    const normalized = normalize.call(this, name)
    if (typeof name === 'string' && remembered.size < maxRemembered) remembered.set(name, normalized)
    return normalized
  }
}
