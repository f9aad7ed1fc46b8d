import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

const userPresent = 0x01
const userVerified = 0x04
const hasCredential = 0x40

/** What differs from a correct answer of a passkey. */
interface Deviation {
  readonly origin?: string
  readonly rpId?: string
  readonly isUserVerified?: boolean
  /** Does not count on. */
  readonly signCount?: number
  /** Signs with another key. */
  readonly isForged?: boolean
}

/** A passkey in software (ES256, without attestation): it answers as a browser and a device do together. */
export interface SoftwarePasskey {
  readonly id: string
  create(options: { readonly challenge: string }, deviation?: Deviation): object
  get(options: { readonly challenge: string }, deviation?: Deviation): object
}

/** @param page the origin of the page, whose host is the relying party */
export function newSoftwarePasskey(page: string): SoftwarePasskey {
  const credentialId = randomBytes(32)
  const id = credentialId.toString('base64url')
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  let count = 0
  const clientData = (type: string, challenge: string, { origin = page }: Deviation) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const authenticatorData = (flags: number, rest: Buffer, deviation: Deviation) => {
    const { rpId = new URL(page).hostname, isUserVerified = true, signCount = ++count } = deviation
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(signCount)
    const flag = Buffer.from([flags | userPresent | (isUserVerified ? userVerified : 0)])
    return Buffer.concat([createHash('sha256').update(rpId).digest(), flag, counter, rest])
  }
  return {
    id,
    create({ challenge }, deviation = {}) {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const credential = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey(publicKey)])
      const authData = authenticatorData(hasCredential, credential, deviation)
      const attestation = cborMap([
        [cborText('fmt'), cborText('none')],
        [cborText('attStmt'), cborMap([])],
        [cborText('authData'), cborBytes(authData)],
      ])
      const clientDataJSON = clientData('webauthn.create', challenge, deviation).toString('base64url')
      return {
        id,
        response: { clientDataJSON, attestationObject: attestation.toString('base64url'), transports: ['usb'] },
      }
    },
    get({ challenge }, deviation = {}) {
      const client = clientData('webauthn.get', challenge, deviation)
      const authData = authenticatorData(0, Buffer.alloc(0), deviation)
      const signed = Buffer.concat([authData, createHash('sha256').update(client).digest()])
      const key = deviation.isForged ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey : privateKey
      return {
        id,
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: sign('sha256', signed, key).toString('base64url'),
        },
      }
    },
  }
}

/** The public key in COSE (RFC 9053 §7.1.1): kty EC2, alg ES256, crv P-256, x, y. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return cborMap([
    [cborInteger(1), cborInteger(2)],
    [cborInteger(3), cborInteger(-7)],
    [cborInteger(-1), cborInteger(1)],
    [cborInteger(-2), cborBytes(Buffer.from(x, 'base64url'))],
    [cborInteger(-3), cborBytes(Buffer.from(y, 'base64url'))],
  ])
}

// CBOR (RFC 8949 §3), as far as it is needed.
function cborHead(majorType: number, value: number): Buffer {
  const major = majorType << 5
  if (value < 24) return Buffer.from([major | value])
  return value < 256 ? Buffer.from([major | 24, value]) : Buffer.from([major | 25, value >> 8, value & 255])
}

function cborInteger(value: number): Buffer {
  return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value)
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([cborHead(2, bytes.length), bytes])
}

function cborText(text: string): Buffer {
  return Buffer.concat([cborHead(3, text.length), Buffer.from(text)])
}

function cborMap(entries: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat()])
}
