import { setPriority } from 'node:os'
import { type Encryption, readRecipients } from '../../backup/format/encryption.ts'
import { type BackupResult, makeBackup } from '../../backup/make/make-backup.ts'
import { progressOnStderr } from '../../backup/progress.ts'
import { readSecretKeyText } from '../../backup/restore/secret-key.ts'
import { systemClock } from '../../base/clock.ts'
import { readConfig, readEnvValue } from '../../base/config/config.ts'
import { CommandError, UsageError } from '../../base/operator-error.ts'
import { secretFile } from '../../base/secrets/secrets.ts'
import { type CommandOutput, type Environment, readArguments } from '../command.ts'
import { untilShutdownSignal } from '../signals.ts'

const usualPercent = 50
/** Others on the machine come first. */
const niceness = 10

/** `backup DIR|-` */
export async function runCreate(args: readonly string[], env: Environment): Promise<CommandOutput | null> {
  const called = readArguments(args, {
    words: ['DIR'],
    options: ['pace'],
    lists: ['age', 'gpg'],
    flags: ['include-secret-key', 'full'],
  })
  const [to = ''] = called.words
  const config = readConfig({ ...env, MAILROOM_ROLES: 'http' })
  const encryption = readEncryption(called.lists)
  const isKeyIncluded = encryption.kind !== 'none' || called.flags.has('include-secret-key')
  const secretKey = readSecretKeyText(readEnvValue(env, 'MAILROOM_SECRET_KEY'), config.varFolder)
  setPriority(niceness)
  const ending = new AbortController()
  void untilShutdownSignal().then(() => ending.abort(new CommandError('The backup was ended before it was whole.')))
  const made = await makeBackup({
    databaseUrl: config.databaseUrl,
    clock: systemClock,
    to: to === '-' ? { stream: process.stdout } : { folder: to },
    encryption,
    secretKey: isKeyIncluded ? (secretKey ?? null) : null,
    isFull: called.flags.has('full'),
    share: readPercent(called.options['pace']) / 100,
    progress: progressOnStderr(),
    signal: ending.signal,
  })
  const status = made.manifest.damaged_blobs.length > 0 ? 1 : 0
  const told: CommandOutput = { status, json: toJsonBackup(made), text: textOf(made, secretFile(config.varFolder)) }
  if (to !== '-') return told
  process.stderr.write(`${told.text}\n`)
  return null
}

function readEncryption(lists: Readonly<Record<string, readonly string[] | undefined>>): Encryption {
  const { age, gpg } = lists
  if (age && gpg) throw new UsageError('--age and --gpg exclude each other')
  if (age) return { kind: 'age', recipients: readRecipients(age) }
  if (gpg) return { kind: 'gpg', recipients: gpg }
  return { kind: 'none' }
}

function readPercent(text = String(usualPercent)): number {
  const percent = Number(text)
  if (!/^\d{1,3}$/.test(text) || percent < 1 || percent > 100)
    throw new UsageError(`--pace takes a percentage from 1 to 100, not "${text}"`)
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

function textOf(made: BackupResult, keyFile: string): string {
  const told = toJsonBackup(made)
  const count = told.damaged_blobs.length
  const lines = [
    `Made the backup ${told.id} in ${told.seconds.toFixed(1)} s: ${told.messages} messages, ${told.rows} rows in all, ${told.blobs} blobs (${told.new_blobs} of them new).`,
    `It takes ${mib(told.bytes)} MiB, of which ${mib(told.new_bytes)} MiB were written now.`,
  ]
  if (told.secret_key_included) lines.push(`It holds the secret key (${told.secret_keys.join(', ')}).`)
  else if (told.secret_keys.length > 0)
    lines.push(
      `It does not hold the secret key ${told.secret_keys.join(', ')}, without which no DKIM key in it can be used: keep a copy of MAILROOM_SECRET_KEY, or of ${keyFile}, in another place.`,
    )
  if (count > 0)
    lines.push(
      `${count} blobs are damaged in the database itself, and so in the backup: ${told.damaged_blobs.slice(0, 20).join(', ')}${count > 20 ? ', …' : ''}`,
    )
  return lines.join('\n')
}

function mib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}
