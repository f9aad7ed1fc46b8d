import { existsSync, readFileSync } from 'node:fs'
import { CommandError, UsageError } from '../../base/operator-error.ts'

/** How the files of a backup are encrypted. */
export type Encryption =
  | { readonly kind: 'none' }
  /** Recipients of age: `age1…`. */
  | { readonly kind: 'age'; readonly recipients: readonly string[] }
  /** Keys of GnuPG: fingerprints or addresses. */
  | { readonly kind: 'gpg'; readonly recipients: readonly string[] }

/** The suffix of the name of an encrypted file. */
export const encryptionSuffixes = { none: '', age: '.age', gpg: '.gpg' } as const satisfies Record<
  Encryption['kind'],
  string
>

/** The keys to decrypt a backup; those of GnuPG are in its keyring. */
export interface DecryptionKeys {
  /** The identities in an identity file of age; may be empty. */
  readonly identities: readonly string[]
}

/** A process that serves reads the names of backups, and seldom what is in them. */
const loadAge = () => import('age-encryption')

/** @throws CommandError when gpg is not installed or does not know a key */
export async function encrypt(bytes: Uint8Array, encryption: Encryption): Promise<Uint8Array> {
  switch (encryption.kind) {
    case 'none':
      return bytes
    case 'age': {
      const { Encrypter } = await loadAge()
      const encrypter = new Encrypter()
      for (const recipient of encryption.recipients) encrypter.addRecipient(recipient)
      return await encrypter.encrypt(bytes)
    }
    case 'gpg': {
      const recipients = encryption.recipients.flatMap(recipient => ['--recipient', recipient])
      // A key that is given on the command line is trusted; the content is compressed already.
      return await runGpg(['--trust-model', 'always', '--compress-algo', 'none', ...recipients, '--encrypt'], bytes)
    }
    default:
      return encryption satisfies never
  }
}

/** Decrypts a file as its name says. @throws when it was altered, or is encrypted for another key */
export async function decrypt(name: string, bytes: Uint8Array, { identities }: DecryptionKeys): Promise<Uint8Array> {
  if (name.endsWith(encryptionSuffixes.gpg)) return await runGpg(['--decrypt'], bytes)
  if (!name.endsWith(encryptionSuffixes.age)) return bytes
  const { Decrypter } = await loadAge()
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  return await decrypter.decrypt(bytes)
}

async function runGpg(args: readonly string[], bytes: Uint8Array): Promise<Uint8Array> {
  const program = Bun.which('gpg')
  if (!program) throw new CommandError('gpg is not installed; on Debian it is in the package gnupg')
  const child = Bun.spawn([program, '--batch', '--no-tty', '--quiet', ...args], {
    stdin: bytes,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (status !== 0) throw new CommandError(`gpg: ${err.trim().split('\n').join('; ')}`)
  return out
}

/** Recipients of age, each given as such or as a file with one on each line. @throws UsageError */
export async function readRecipients(values: readonly string[]): Promise<readonly string[]> {
  const { Encrypter } = await loadAge()
  return values.flatMap(value => {
    const recipients = value.startsWith('age1')
      ? [value]
      : readNonEmptyLines(value, 'neither an age recipient (age1…) nor a file with some')
    for (const recipient of recipients)
      try {
        new Encrypter().addRecipient(recipient)
      } catch {
        throw new UsageError(`"${recipient}" is not an age recipient (age1…)`)
      }
    return recipients
  })
}

/** The identities in a file that age-keygen wrote. @throws UsageError */
export async function readIdentities(path: string): Promise<readonly string[]> {
  const { Decrypter } = await loadAge()
  const identities = readNonEmptyLines(path, 'not an age identity file')
  for (const identity of identities)
    try {
      new Decrypter().addIdentity(identity)
    } catch {
      throw new UsageError(`"${path}" is not an age identity file, which has lines that start with AGE-SECRET-KEY-`)
    }
  return identities
}

function readNonEmptyLines(path: string, problem: string): readonly string[] {
  if (!existsSync(path)) throw new UsageError(`"${path}" is ${problem}`)
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
  if (lines.length === 0) throw new UsageError(`"${path}" is ${problem}: it is empty`)
  return lines
}
