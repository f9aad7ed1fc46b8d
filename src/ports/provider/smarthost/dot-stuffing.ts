const CR = 0x0d
const LF = 0x0a
const dot = 0x2e
const stuffing = Buffer.from('.')
const finalDot = Buffer.from('.\r\n')

/**
 * A message as it is transmitted after DATA: with a dot more in front of each line that begins with one, and the final dot
 * (RFC 5321 §4.5.2). Undefined: a line of it does not end in CRLF, and would have to be mended before.
 */
export function withFinalDot(message: Buffer): Buffer | undefined {
  if (message[message.length - 1] !== LF) return undefined
  const pieces: Buffer[] = []
  let from = 0
  let start = 0
  for (let end = message.indexOf(LF); end >= 0; end = message.indexOf(LF, start)) {
    if (message[end - 1] !== CR) return undefined
    if (message[start] === dot) {
      pieces.push(message.subarray(from, start), stuffing)
      from = start
    }
    start = end + 1
  }
  if (hasBareCr(message)) return undefined
  return Buffer.concat([...pieces, message.subarray(from), finalDot])
}

function hasBareCr(message: Buffer): boolean {
  for (let at = message.indexOf(CR); at >= 0; at = message.indexOf(CR, at + 2)) if (message[at + 1] !== LF) return true
  return false
}
