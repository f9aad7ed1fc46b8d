import { existsSync, readFileSync } from 'node:fs'
import { Decrypter, Encrypter } from 'age-encryption'
import { CommandError, UsageError } from '../../base/operator-error.ts'

/** For whom the files of a backup are written; `none`: for whoever has them. */
export type Encryption =
  | { readonly kind: 'none' }
  /** Recipients as age has them: `age1…`. */
  | { readonly kind: 'age'; readonly recipients: readonly string[] }
  /** Keys as gpg takes them: fingerprints or addresses. */
  | { readonly kind: 'gpg'; readonly recipients: readonly string[] }

/** What follows the name of a file that is encrypted so. */
export const encryptionSuffixes = { none: '', age: '.age', gpg: '.gpg' } as const satisfies Record<
  Encryption['kind'],
  string
>

/** Opens what was encrypted. */
export interface DecryptionKeys {
  /** The identities of an identity file of age; empty: there are none. */
  readonly identities: readonly string[]
}

/** @throws CommandError where a recipient is none, or gpg does not know the key. */
export async function encrypt(bytes: Uint8Array, how: Encryption): Promise<Uint8Array> {
  switch (how.kind) {
    case 'none':
      return bytes
    case 'age': {
      const encrypter = new Encrypter()
      for (const recipient of how.recipients) encrypter.addRecipient(recipient)
      return await encrypter.encrypt(bytes)
    }
    case 'gpg': {
      const recipients = how.recipients.flatMap(recipient => ['--recipient', recipient])
      // Whoever names a key on the command line trusts it; what is compressed already is not compressed again.
      return await runGpg(['--trust-model', 'always', '--compress-algo', 'none', ...recipients, '--encrypt'], bytes)
    }
    default:
      return how satisfies never
  }
}

/** What a file of this name holds. @throws where it cannot be opened: altered, or for another key */
export async function decrypt(name: string, bytes: Uint8Array, { identities }: DecryptionKeys): Promise<Uint8Array> {
  if (name.endsWith(encryptionSuffixes.gpg)) return await runGpg(['--decrypt'], bytes)
  if (!name.endsWith(encryptionSuffixes.age)) return bytes
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  return await decrypter.decrypt(bytes)
}

async function runGpg(args: readonly string[], bytes: Uint8Array): Promise<Uint8Array> {
  const program = Bun.which('gpg')
  if (!program) throw new CommandError('gpg is absent; Debian has it in the package gnupg')
  const running = Bun.spawn([program, '--batch', '--no-tty', '--quiet', ...args], {
    stdin: bytes,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, status] = await Promise.all([
    new Response(running.stdout).bytes(),
    new Response(running.stderr).text(),
    running.exited,
  ])
  if (status !== 0) throw new CommandError(`gpg: ${err.trim().split('\n').join('; ')}`)
  return out
}

/** Recipients of age, given as such or as files of them. @throws UsageError */
export function readRecipients(given: readonly string[]): readonly string[] {
  return given.flatMap(value => {
    const found = value.startsWith('age1')
      ? [value]
      : readNonEmptyLines(value, 'neither a recipient of age (age1…) nor a file of them')
    for (const recipient of found)
      try {
        new Encrypter().addRecipient(recipient)
      } catch {
        throw new UsageError(`"${recipient}" is not a recipient of age (age1…)`)
      }
    return found
  })
}

/** The identities in a file as age-keygen writes it. @throws UsageError */
export function readIdentities(path: string): readonly string[] {
  const found = readNonEmptyLines(path, 'not an identity file of age')
  for (const identity of found)
    try {
      new Decrypter().addIdentity(identity)
    } catch {
      throw new UsageError(`"${path}" is not an identity file of age: it holds lines that start with AGE-SECRET-KEY-`)
    }
  return found
}

function readNonEmptyLines(path: string, otherwise: string): readonly string[] {
  if (!existsSync(path)) throw new UsageError(`"${path}" is ${otherwise}`)
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
  if (lines.length === 0) throw new UsageError(`"${path}" is ${otherwise}: it is empty`)
  return lines
}
