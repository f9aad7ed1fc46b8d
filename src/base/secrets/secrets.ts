import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What the database is handed instead of a secret. */
export interface SealedSecret {
  /** The id of the secret key that opens it. */
  readonly keyId: string
  /** In base64: nonce, tag, ciphertext. */
  readonly text: string
}

/** Seals and opens what the database may hold but must not show (AES-256-GCM). */
export interface Secrets {
  /** The id of the key that seals. */
  readonly id: string
  /** The ids of all keys, that one first. */
  readonly ids: readonly string[]
  /** @param place where it will stand; what was sealed for one place opens at no other */
  seal(secret: string, place: string): SealedSecret
  /** @throws where the key is not one of these, or the text or the place is another */
  open(sealed: SealedSecret, place: string): string
  /** Keys for another purpose, one made of each (HKDF, RFC 5869): the first for what is made, all for what is checked. */
  derive(purpose: string): readonly Buffer[]
}

export const secretKeyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const cipher = 'aes-256-gcm'

/** The secrets of these keys, of {@link secretKeyBytes} each: the first seals, all open. */
export function secretsOf(keys: readonly [Buffer, ...Buffer[]]): Secrets {
  const known = new Map<string, KeyObject>(keys.map(key => [idOf(key), createSecretKey(key)]))
  const id = idOf(keys[0])
  const sealing = createSecretKey(keys[0])
  return {
    id,
    ids: [...known.keys()],
    seal(secret, place) {
      const nonce = randomBytes(nonceBytes)
      const sealer = createCipheriv(cipher, sealing, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(place))
      const text = Buffer.concat([sealer.update(secret, 'utf8'), sealer.final()])
      return { keyId: id, text: Buffer.concat([nonce, sealer.getAuthTag(), text]).toString('base64') }
    },
    open({ keyId, text }, place) {
      const key = known.get(keyId)
      if (!key) throw new Error(`the secret key ${keyId} is not at hand`)
      const bytes = Buffer.from(text, 'base64')
      const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
      const opener = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(Buffer.from(place))
        .setAuthTag(tag)
      return Buffer.concat([opener.update(bytes.subarray(nonceBytes + tagBytes)), opener.final()]).toString('utf8')
    },
    derive: purpose => keys.map(key => Buffer.from(hkdfSync('sha256', key, '', `mailroom ${purpose}`, secretKeyBytes))),
  }
}

/** Says which key it is and nothing else of it. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('mailroom secret key ').update(key).digest('hex').slice(0, 16)
}

/** The keys that `text` holds in base64, with commas or line breaks between; undefined when it is not that. */
export function readSecretKeys(text: string): readonly [Buffer, ...Buffer[]] | undefined {
  const [first, ...more] = text
    .trim()
    .split(/\s*[,\n]\s*/)
    .map(part => (/^[A-Za-z0-9+/]{43}=$/.test(part) ? Buffer.from(part, 'base64') : undefined))
  return first && more.every(each => each !== undefined) ? [first, ...more] : undefined
}

/** Where the secret key is kept when the settings hold none. */
export function secretFile(varFolder: string): string {
  return join(varFolder, 'secret.key')
}

/**
 * The secrets in `varFolder`; undefined: there are none.
 * @throws when the file there holds something else
 */
export function readSecretFile(varFolder: string): Secrets | undefined {
  const file = secretFile(varFolder)
  const text = readIfThere(file)
  if (text === undefined) return undefined
  const keys = readSecretKeys(text)
  if (!keys) throw new Error(`${file} does not hold a secret key: ${secretKeyBytes} bytes in base64`)
  return secretsOf(keys)
}

/** Makes a secret key in `varFolder`, unless another process was first, that only our user may read; it is on disk then. */
export function createSecretFile(varFolder: string): void {
  writeSecretFile(varFolder, randomBytes(secretKeyBytes).toString('base64'))
}

/** Keeps a secret key, in base64, in `varFolder`, unless one is there. */
export function writeSecretFile(varFolder: string, key: string): void {
  mkdirSync(varFolder, { recursive: true })
  const file = secretFile(varFolder)
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeDurably(draft, `${key}\n`)
    // Unlike a rename, a link never takes the place of a file that is there.
    linkSync(draft, file)
    syncFolder(varFolder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function writeDurably(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
