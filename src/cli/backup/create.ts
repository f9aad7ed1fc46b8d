import { setPriority } from 'node:os'
import { type Encryption, readRecipients } from '../../backup/format/encryption.ts'
import { type BackupResult, makeBackup } from '../../backup/make/make-backup.ts'
import { progressOnStderr } from '../../backup/progress.ts'
import { readSecretKeyText } from '../../backup/restore/secret-key.ts'
import { systemClock } from '../../base/clock.ts'
import { readEnvValue } from '../../base/config/config.ts'
import { CommandError, UsageError } from '../../base/operator-error.ts'
import { secretFile } from '../../base/secrets/secrets.ts'
import { defineCommand } from '../command.ts'
import { readCommandConfig } from '../database.ts'
import { untilShutdownSignal } from '../signals.ts'

/** Other programs on the machine come first. */
const niceness = 10

export const create = defineCommand({
  name: 'backup',
  summary: 'Back up everything while mail flows',
  details: `Copies the tables as they stood at one moment, then the content of the messages. A directory can hold several
backups, a subdirectory for each database, and each backup adds only what the earlier ones do not have. With - one tar
archive, which unpacks to such a directory, is written to standard output.`,
  arguments: { to: { placeholder: 'DIR', description: 'the directory; -: standard output' } },
  options: {
    age: {
      placeholder: 'RECIPIENT',
      description: `encrypt with age: a recipient (age1…) or a file with one on each line. Names, sizes, counts and ids stay
readable, so that the next backup needs no key`,
      repeatable: true,
    },
    gpg: { placeholder: 'KEY', description: 'encrypt with GnuPG, to a key that gpg knows', repeatable: true },
    'include-secret-key': {
      description: `include the secret key, which opens the DKIM keys, although the backup is not encrypted. An encrypted
backup always includes it; for any other, keep a copy of the secret key elsewhere`,
    },
    full: { description: 'copy all content again: use it after backup verify found damage' },
    pace: {
      placeholder: 'PERCENT',
      description: 'the share of the time that it works, a third of it while the machine is busy; 100: never pause',
      read: readPercent,
      default: '50',
    },
  },
  async run({ to, age, gpg, 'include-secret-key': includeSecretKey, full, pace }, { env }) {
    const config = readCommandConfig(env)
    const encryption = await encryptionOf(age, gpg)
    const isKeyIncluded = encryption.kind !== 'none' || includeSecretKey
    const secretKey = readSecretKeyText(readEnvValue(env, 'MAILROOM_SECRET_KEY'), config.varFolder)
    setPriority(niceness)
    const aborting = new AbortController()
    void untilShutdownSignal().then(() => aborting.abort(new CommandError('The backup was stopped and is incomplete.')))
    const backup = await makeBackup({
      databaseUrl: config.databaseUrl,
      clock: systemClock,
      to: to === '-' ? { stream: process.stdout } : { folder: to },
      encryption,
      secretKey: isKeyIncluded ? (secretKey ?? null) : null,
      isFull: full,
      share: pace / 100,
      progress: progressOnStderr(),
      signal: aborting.signal,
    })
    const status = backup.manifest.damaged_blobs.length > 0 ? 1 : 0
    const text = describe(backup, secretFile(config.varFolder))
    if (to !== '-') return { status, json: toJsonBackup(backup), text }
    process.stderr.write(`${text}\n`)
    return null
  },
})

async function encryptionOf(
  age: readonly string[] | undefined,
  gpg: readonly string[] | undefined,
): Promise<Encryption> {
  if (age && gpg) throw new UsageError('--age and --gpg exclude each other')
  if (age) return { kind: 'age', recipients: await readRecipients(age) }
  if (gpg) return { kind: 'gpg', recipients: gpg }
  return { kind: 'none' }
}

function readPercent(text: string): number {
  const percent = Number(text)
  if (!/^\d{1,3}$/.test(text) || percent < 1 || percent > 100)
    throw new UsageError(`"${text}" is not a percentage from 1 to 100`)
  return percent
}

function toJsonBackup({ manifest, seconds, snapshotSeconds, bytes, newBytes, newBlobs }: BackupResult) {
  return {
    id: manifest.id,
    taken_at: manifest.taken_at,
    seconds,
    snapshot_seconds: snapshotSeconds,
    rows: rowsIn(manifest.tables),
    messages: rowsIn(manifest.tables.filter(table => table.name === 'messages')),
    blobs: manifest.blobs,
    new_blobs: newBlobs,
    bytes,
    new_bytes: newBytes,
    encryption: manifest.encryption.kind,
    secret_keys: manifest.secret_keys,
    secret_key_included: manifest.secret_key !== null,
    damaged_blobs: manifest.damaged_blobs,
  }
}

function rowsIn(tables: readonly { readonly rows: number }[]): number {
  return tables.reduce((sum, table) => sum + table.rows, 0)
}

function describe(backup: BackupResult, keyFile: string): string {
  const { id, seconds, messages, rows, blobs, new_blobs, bytes, new_bytes, ...rest } = toJsonBackup(backup)
  const { secret_key_included, secret_keys, damaged_blobs } = rest
  const lines = [
    `Created the backup ${id} in ${seconds.toFixed(1)} s: ${messages} messages, ${rows} rows in all, ${blobs} blobs (${new_blobs} of them new).`,
    `Its size is ${mib(bytes)} MiB, of which ${mib(new_bytes)} MiB were written now.`,
  ]
  if (secret_key_included) lines.push(`It includes the secret key (${secret_keys.join(', ')}).`)
  else if (secret_keys.length > 0)
    lines.push(
      `It does not include the secret key ${secret_keys.join(', ')}, without which its DKIM keys cannot be used: keep a copy of MAILROOM_SECRET_KEY, or of ${keyFile}, in another place.`,
    )
  if (damaged_blobs.length > 0)
    lines.push(
      `${damaged_blobs.length} blobs are damaged in the database itself, and so in the backup: ${damaged_blobs.slice(0, 20).join(', ')}${damaged_blobs.length > 20 ? ', …' : ''}`,
    )
  return lines.join('\n')
}

function mib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}
