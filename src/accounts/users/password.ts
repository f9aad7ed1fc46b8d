import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import { refuse } from '../../base/refusal.ts'

// OWASP's first choice for argon2id: 19 MiB, two passes. One hash takes about 50 ms of CPU.
const argon2id = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
const hashesAtOnce = 2
const mostWaiting = 40

/** Made with the same cost, from bytes that nobody has. */
const unknownPersonsHash =
  '$argon2id$v=19$m=19456,t=2,p=1$ZB4kGDFkvEemdl6PoP2NxlwXSO4hP4FDfgYR1hIEFeI$DzzWmZ/HpfsQSuyOtvlxaMnkbQIPFPw0wjAKjAhmVi8'

const limited = limitConcurrency(hashesAtOnce)
let waiting = 0

/** The stored form of a password. @throws Refusal `unavailable` */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(normalized(password), argon2id))
}

/**
 * Is it the password of this hash? Takes as long for a person who has none, or whom nobody knows (null).
 * @throws Refusal `unavailable`
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const isRight = await inTurn(() => Bun.password.verify(normalized(password), hash ?? unknownPersonsHash))
  return isRight && hash !== null
}

/** The same characters may come as different code points from different keyboards (NIST SP 800-63B §3.1.1.2). */
function normalized(password: string): string {
  return password.normalize('NFKC')
}

/** Hashes take memory: few are made at once, and not many wait. */
async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (waiting >= mostWaiting)
    throw refuse('unavailable', { message: 'Too many people sign in at the moment; try again.', retryAfterSeconds: 2 })
  waiting++
  try {
    return await limited(work)
  } finally {
    waiting--
  }
}
