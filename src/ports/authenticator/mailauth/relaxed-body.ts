import type { RelaxedHash } from 'mailauth/lib/dkim/body/relaxed.js'

const [lf, tab] = [0x0a, 0x09]
/** Of lines that are looked at together: those beside one that is not canonical are read byte by byte with it. */
const blockBytes = 16 * 1024

/**
 * Makes this hash of a body take lines that are in the relaxed form (RFC 6376 §3.4.4) already as they are: mailauth by itself
 * looks at each of their bytes. The hash is the same, and keeps nothing of a chunk but a copy.
 * @param hash of a body whose line ends are CRLF, in which no chunk ends between CR and LF
 */
export function hashRelaxedLines(hash: RelaxedHash): void {
  const { update } = hash
  hash.update = (chunk, isFinal) => {
    if (!chunk || isFinal) return update.call(hash, chunk, isFinal)
    let at = 0
    // The rest of a line that the last chunk began.
    if (hash.remainder) {
      at = lineEndFrom(chunk, 0)
      update.call(hash, chunk.subarray(0, at))
    }
    while (at < chunk.length) {
      const block = chunk.subarray(at, blockEnd(chunk, at))
      if (block[block.length - 1] === lf && isRelaxed(block)) {
        hash.byteLength += block.length
        hash._pushBodyHash(block)
      } else update.call(hash, block)
      at += block.length
    }
    // The chunk is valid during the call only.
    if (hash.remainder && hash.remainder.buffer === chunk.buffer) hash.remainder = Buffer.from(hash.remainder)
  }
}

/** Whole lines, as far as there are any: mailauth reads a line from its beginning again for each piece of it. */
function blockEnd(bytes: Buffer, at: number): number {
  const last = at + blockBytes < bytes.length ? bytes.lastIndexOf(lf, at + blockBytes - 1) : bytes.lastIndexOf(lf)
  return last >= at ? last + 1 : lineEndFrom(bytes, at)
}

/** After the next LF; at the end of the bytes where there is none. */
function lineEndFrom(bytes: Buffer, at: number): number {
  return bytes.indexOf(lf, at) + 1 || bytes.length
}

/** No white space at the end of a line, and none but single spaces within. */
function isRelaxed(lines: Buffer): boolean {
  return !lines.includes(tab) && !lines.includes('  ') && !lines.includes(' \r\n')
}
