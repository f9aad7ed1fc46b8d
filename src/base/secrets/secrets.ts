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

/** An encrypted secret, as the database stores it. */
export interface SealedSecret {
  /** The id of the secret key that decrypts it. */
  readonly keyId: string
  /** In base64: nonce, tag, ciphertext. */
  readonly text: string
}

/** Encrypts and decrypts the secrets that are stored in the database (AES-256-GCM). */
export interface Secrets {
  /** The id of the key that encrypts. */
  readonly id: string
  /** The ids of all keys, the encrypting one first. */
  readonly ids: readonly string[]
  /** @param place names where it will be stored (AEAD associated data): it can be opened for the same place only */
  seal(secret: string, place: string): SealedSecret
  /** @throws where its key is not one of these, or the text or the place was changed */
  open(sealed: SealedSecret, place: string): string
  /** One key for another purpose from each key (HKDF, RFC 5869): the first to sign with, all to verify with. */
  derive(purpose: string): readonly Buffer[]
}

export const secretKeyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const cipher = 'aes-256-gcm'

/** Keys of {@link secretKeyBytes} bytes each: the first encrypts, all decrypt. */
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
      if (!key) throw new Error(`the secret key ${keyId} is unknown to this process`)
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

/** Identifies a key without revealing it. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('mailroom secret key ').update(key).digest('hex').slice(0, 16)
}

/** Parses keys in base64, separated by commas or line breaks; undefined when `text` is anything else. */
export function readSecretKeys(text: string): readonly [Buffer, ...Buffer[]] | undefined {
  const [first, ...more] = text
    .trim()
    .split(/\s*[,\n]\s*/)
    .map(part => (/^[A-Za-z0-9+/]{43}=$/.test(part) ? Buffer.from(part, 'base64') : undefined))
  return first && more.every(each => each !== undefined) ? [first, ...more] : undefined
}

/** The file with the secret key of a process whose settings have none. */
export function secretFile(varFolder: string): string {
  return join(varFolder, 'secret.key')
}

/**
 * The keys in the secret file of `varFolder`; undefined: there is no file.
 * @throws when the file holds anything else
 */
export function readSecretFile(varFolder: string): Secrets | undefined {
  const file = secretFile(varFolder)
  const text = readIfThere(file)
  if (text === undefined) return undefined
  const keys = readSecretKeys(text)
  if (!keys) throw new Error(`${file} does not hold a secret key: ${secretKeyBytes} bytes in base64`)
  return secretsOf(keys)
}

/** Creates a secret file with a new key, readable by our user only, unless another process has; it is on disk then. */
export function createSecretFile(varFolder: string): void {
  writeSecretFile(varFolder, randomBytes(secretKeyBytes).toString('base64'))
}

/** Writes a key, in base64, to the secret file of `varFolder`, unless there is one. */
export function writeSecretFile(varFolder: string, key: string): void {
  mkdirSync(varFolder, { recursive: true })
  const file = secretFile(varFolder)
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeDurably(temporary, `${key}\n`)
    // Unlike a rename, a link never replaces an existing file.
    linkSync(temporary, file)
    syncFolder(varFolder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(temporary, { force: true })
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
