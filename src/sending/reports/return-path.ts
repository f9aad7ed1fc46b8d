import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Secrets } from '../../base/secrets/secrets.ts'

/** One recipient of an email. */
export interface ReturnPathTarget {
  readonly emailId: Id<'eml'>
  /** 0-based, as in email_recipients. */
  readonly position: number
}

/**
 * The reverse-paths of sent emails: one for each recipient, which names it and is signed. Nobody can forge one, so that a
 * report sent to it comes from a server that had the message, or from its recipient.
 */
export interface ReturnPaths {
  /** `b+<email, position, signature>@<host>`: 46 octets before the `@`, the same in either case. */
  addressOf(place: ReturnPathTarget, host: string): string
  /** The recipient that a local part names; undefined: it does not have the form of ours. */
  read(localPart: string): ReturnPathTarget | 'forged' | undefined
}

/** The reverse-paths of a relay, and the hosts that they are at. */
export interface ReturnPathSource {
  readonly returnPaths: ReturnPaths
  /** The return-path hosts of those domains that have one of their own; see domains/return-path-table.ts. */
  readonly findHosts: (db: Db, domainIds: readonly Id<'dom'>[]) => Promise<ReadonlyMap<Id<'dom'>, string>>
  /** Our own host, for the other domains; undefined: mail cannot be sent to it. */
  readonly ownHost: string | undefined
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const form = /^b\+([0-9a-z]{26})([0-9a-z]{2})([0-9a-z]{16})$/
const signatureLength = 16

/** Return paths signed with a key derived from the first secret key; those signed with any of the keys are accepted. */
export function newReturnPaths(secrets: Secrets): ReturnPaths {
  const keys = secrets.derive('return path')
  return {
    addressOf({ emailId, position }, host) {
      const [key] = keys
      if (!key || position >= alphabet.length ** 2) throw new Error(`no return path for position ${position}`)
      const target = emailId.slice(4) + twoDigits(position)
      return `b+${target}${signatureOf(key, target)}@${host}`
    },
    read(localPart) {
      const [, token, digits, signature] = form.exec(localPart.toLowerCase()) ?? []
      if (token === undefined || digits === undefined || signature === undefined) return undefined
      const isOurs = keys.some(key => isSame(signatureOf(key, token + digits), signature))
      return isOurs ? { emailId: `eml_${token}`, position: numberOf(digits) } : 'forged'
    },
  }
}

function twoDigits(number: number): string {
  return alphabet.charAt(Math.floor(number / alphabet.length)) + alphabet.charAt(number % alphabet.length)
}

function numberOf(digits: string): number {
  return alphabet.indexOf(digits.charAt(0)) * alphabet.length + alphabet.indexOf(digits.charAt(1))
}

/** 80 bits. */
function signatureOf(key: Buffer, target: string): string {
  const mac = createHmac('sha256', key).update(target).digest()
  return Array.from(mac.subarray(0, signatureLength), byte => alphabet.charAt(byte & 31)).join('')
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
