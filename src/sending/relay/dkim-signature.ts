import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import RelaxedBody from 'nodemailer/lib/dkim/relaxed-body'
import type { SigningKey } from '../../domains/dkim/keys.ts'

// Signed once more than they occur, so that none can be added in front of ours (RFC 6376 §5.4, §8.15).
const oversigned = ['from', 'reply-to', 'to', 'cc', 'subject', 'date', 'message-id', 'in-reply-to', 'references']
const oversignedWherePresent = ['mime-version', 'content-type', 'content-transfer-encoding', 'sender']
const signedWherePresent = ['list-id', 'list-unsubscribe', 'list-unsubscribe-post', 'auto-submitted', 'x-mailroom-id']

/**
 * The DKIM-Signature fields of a message, one for each key, to be put in front of it: rsa-sha256, relaxed/relaxed, all of
 * the body. `unsigned` names fields that the provider will change, in lower case. RFC 6376, RFC 8301.
 */
export async function dkimSignatures(
  message: Buffer,
  keys: readonly SigningKey[],
  atSeconds: number,
  unsigned: readonly string[] = [],
): Promise<Buffer> {
  if (keys.length === 0) return Buffer.alloc(0)
  const { headerEnd, bodyStart } = splitMessage(message)
  const header = selectFields(readFields(message.subarray(0, headerEnd)), unsigned)
  const bodyHash = await hashBody(message.subarray(bodyStart))
  const signatures = keys.map(async key => {
    const tags = `v=1; a=rsa-sha256; c=relaxed/relaxed; d=${key.domain}; s=${key.selector}; t=${atSeconds}; h=${header.names.join(': ')}; bh=${bodyHash}; b=`
    const signature = await signRsa(`${header.canonical}dkim-signature:${tags}`, key.privateKey)
    return `DKIM-Signature: ${fold(tags)}${signature.replace(/.{1,72}/g, '\r\n\t$&')}\r\n`
  })
  return Buffer.from((await Promise.all(signatures)).join(''))
}

function splitMessage(message: Buffer): { readonly headerEnd: number; readonly bodyStart: number } {
  const blank = message.indexOf('\r\n\r\n')
  return blank < 0
    ? { headerEnd: message.length, bodyStart: message.length }
    : { headerEnd: blank + 2, bodyStart: blank + 4 }
}

interface CanonicalField {
  /** Lower case. */
  readonly name: string
  /** Relaxed, with its CRLF. RFC 6376 §3.4.2. */
  readonly canonical: string
}

function readFields(header: Buffer): readonly CanonicalField[] {
  const fields: CanonicalField[] = []
  for (const line of header.toString('latin1').split(/\r\n(?![ \t])/)) {
    const colon = line.indexOf(':')
    if (colon < 1) continue
    const name = line.slice(0, colon).trimEnd().toLowerCase()
    const value = line
      .slice(colon + 1)
      .replace(/\r\n/g, '')
      .replace(/[ \t]+/g, ' ')
      .replace(/^ | $/g, '')
    fields.push({ name, canonical: `${name}:${value}\r\n` })
  }
  return fields
}

/** The names for h= and the signed fields, of each name's from the last to the first (§5.4.2). */
function selectFields(fields: readonly CanonicalField[], unsigned: readonly string[]) {
  const names: string[] = []
  const canonical: string[] = []
  const select = (name: string, oversign: 'always' | 'where present' | 'never') => {
    if (unsigned.includes(name)) return
    const found = fields.filter(field => field.name === name).reverse()
    for (const field of found) {
      names.push(name)
      canonical.push(field.canonical)
    }
    if (oversign === 'always' || (oversign === 'where present' && found.length > 0)) names.push(name)
  }
  for (const name of oversigned) select(name, 'always')
  for (const name of oversignedWherePresent) select(name, 'where present')
  for (const name of signedWherePresent) select(name, 'never')
  return { names, canonical: canonical.join('') }
}

const chunkBytes = 256 * 1024

/** The body hash (bh=), in chunks so that a large body does not block the event loop. */
async function hashBody(body: Buffer): Promise<string> {
  if (body.length <= chunkBytes && isRelaxed(body))
    return createHash('sha256').update(withoutEmptyLines(body)).digest('base64')
  const relaxed = new RelaxedBody({ hashAlgo: 'sha256' })
  const hash = new Promise<string>(resolve => relaxed.once('hash', resolve))
  for (let at = 0; at < body.length; at += chunkBytes) {
    if (at > 0) await new Promise(setImmediate)
    relaxed.updateHash(body.subarray(at, at + chunkBytes))
  }
  relaxed.resume().end()
  return hash
}

const LF = 0x0a
const CR = 0x0d

/** Is each line as the relaxed form has it (RFC 6376 §3.4.4), and does the last one end? Then only empty lines may follow. */
function isRelaxed(body: Buffer): boolean {
  if (body[body.length - 1] !== LF || body.includes('\t') || body.includes('  ') || body.includes(' \r')) return false
  for (let at = body.indexOf(LF); at >= 0; at = body.indexOf(LF, at + 1)) if (body[at - 1] !== CR) return false
  return true
}

/** Without those at the end. */
function withoutEmptyLines(body: Buffer): Buffer {
  let end = body.length
  while (end >= 4 && body[end - 3] === LF && body[end - 4] === CR) end -= 2
  return end === 2 ? body.subarray(0, 0) : body.subarray(0, end)
}

const parsedKeys = new LRUCache<string, KeyObject>({ max: 2000 })

function parsedKey(privateKey: string): KeyObject {
  const cached = parsedKeys.get(privateKey)
  if (cached) return cached
  const key = createPrivateKey(privateKey)
  parsedKeys.set(privateKey, key)
  return key
}

/** In base64. Signing takes half a millisecond of CPU, off the event loop. */
function signRsa(text: string, privateKey: string): Promise<string> {
  return new Promise((resolve, reject) => {
    sign('rsa-sha256', Buffer.from(text, 'latin1'), parsedKey(privateKey), (error, signature) =>
      error ? reject(error) : resolve(signature.toString('base64')),
    )
  })
}

/** Turns spaces into line breaks so that lines stay short; relaxed canonicalisation makes them spaces again. */
function fold(tags: string): string {
  const lines = ['']
  for (const word of tags.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line.length + word.length < 74) lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
    else lines.push(word)
  }
  return lines.join('\r\n\t')
}
