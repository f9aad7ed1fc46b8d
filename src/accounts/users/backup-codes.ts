import { createHash, randomBytes } from 'node:crypto'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { deleteBackupCode, replaceBackupCodes } from './factors-table.ts'

/** Without the letters that are read as others (Crockford's base32). */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const codesOfPerson = 10
const codeLength = 12

/**
 * Replaces the person's backup codes by ten new ones, `xxxx-xxxx-xxxx` (60 random bits). They are shown once: only their
 * SHA-256 is stored.
 */
export async function renewBackupCodes(db: Db, userId: Id<'usr'>): Promise<readonly string[]> {
  const codes = Array.from({ length: codesOfPerson }, newCode)
  await replaceBackupCodes(
    db,
    userId,
    codes.map(code => hashCode(userId, code)),
  )
  return codes.map(code => code.replace(/(.{4})(?=.)/g, '$1-'))
}

/** Takes one of the person's codes: it is good once. False: it is none of them. */
export async function takeBackupCode(db: Db, userId: Id<'usr'>, text: string): Promise<boolean> {
  const code = readCode(text)
  return code !== undefined && (await deleteBackupCode(db, userId, hashCode(userId, code)))
}

function newCode(): string {
  return [...randomBytes(codeLength)].map(byte => alphabet.charAt(byte & 31)).join('')
}

/** As typed by a person: in any case, with spaces or dashes, and with letters that look like digits. */
function readCode(text: string): string | undefined {
  const code = text.toLowerCase().replace(/[\s-]/g, '').replace(/o/g, '0').replace(/[il]/g, '1')
  return code.length === codeLength ? code : undefined
}

function hashCode(userId: Id<'usr'>, code: string): Buffer {
  return createHash('sha256').update(`${userId} ${code}`).digest()
}
