import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createKey } from '../../src/accounts/keys/keys.ts'
import { findBackup } from '../../src/backup/files/folder.ts'
import type { DecryptionKeys, Encryption } from '../../src/backup/format/encryption.ts'
import { type BackupResult, makeBackup } from '../../src/backup/make/make-backup.ts'
import type { ProgressReporter } from '../../src/backup/progress.ts'
import { inspectBackup } from '../../src/backup/verify/inspect.ts'
import { plusMs, systemClock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'
import { openLog } from '../../src/base/observability/log.ts'
import { loadOrCreateSecrets } from '../../src/base/secrets/secret-keys.ts'
import { readSecretKeys, secretsOf } from '../../src/base/secrets/secrets.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from './accepted-emails.ts'
import { type CliResult, runCommand } from './cli.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'

const MiB = 1024 * 1024
/** An empty blob, one of several chunks, and one larger than a segment of the backup. */
const blobSizes = [0, MiB + 17, 18 * MiB]

/** A database to back up: queued and scheduled emails, blobs of all sizes, an API key, and text that is hard to encode. */
export interface BackupSource {
  readonly database: FreshDatabase
  readonly sender: SendingDomain
  /** Base64. */
  readonly secretKey: string
  /** The folder of the secret key and of backups. */
  readonly folder: string
  /** Adds queued emails. */
  addEmails(count: number): Promise<void>
  /** Runs a `./mailroom` command on this database; `more` are further settings. */
  mailroom(args: readonly string[], more?: Readonly<Record<string, string>>): Promise<CliResult>
  close(): Promise<void>
}

export async function createBackupSource(emails = 300): Promise<BackupSource> {
  const database = await freshDatabase()
  const { db } = database
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-backup-test-'))
  const secretKey = randomBytes(32).toString('base64')
  const secrets = secretsOf(readSecretKeys(secretKey) ?? [Buffer.alloc(32)])
  await loadOrCreateSecrets(db, { secrets, varFolder: folder }, { clock: systemClock, log: openLog('silent') })
  const sender = await createSendingDomain(db, systemClock.now())
  const blobs = mysqlBlobs(db, systemClock)
  const { organizationId } = sender
  await createKey(
    db,
    { organizationId, brandId: null, name: 'k', scopes: ['email:send'], expiresAt: null },
    systemClock,
  )
  for (const size of blobSizes) await blobs.store(organizationId, { kind: 'memory', bytes: randomBytes(size), size })
  await db
    .insertInto('idempotency_keys')
    .values({
      organization_id: organizationId,
      idempotency_key: 'a\n"\\\u2028🌍',
      fingerprint: randomBytes(32),
      token: 'x'.repeat(26),
      leased_until: systemClock.now(),
      status: 202,
      answer: '\u0000\t\\n\u{10ffff}',
      created_at: systemClock.now(),
    })
    .execute()
  const addEmails = async (count: number) => {
    const all = Array.from({ length: count }, (_, i) =>
      i % 10 === 0 ? { scheduledAt: plusMs(systemClock.now(), 3_600_000) } : {},
    )
    await insertAcceptedEmails(db, blobs, sender, systemClock.now(), all)
  }
  await addEmails(emails)
  return {
    database,
    sender,
    secretKey,
    folder,
    addEmails,
    async mailroom(args, more = {}) {
      const own = { MAILROOM_DATABASE_URL: database.url, MAILROOM_VAR: folder, MAILROOM_SECRET_KEY: secretKey }
      const ran = await runCommand(args, { ...own, ...more })
      return { ...ran, err: withoutProgress(ran.err) }
    },
    async close() {
      await database.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Standard error without progress lines, which depend on the speed of the machine. */
export function withoutProgress(err: string): string {
  return err.replace(/^ {2}.*: \d+( of \d+)?\n/gm, '')
}

const silent: ProgressReporter = { report: () => undefined }

/** Runs a backup in this process, at full speed. */
export function runBackup(
  { database, secretKey }: Pick<BackupSource, 'database' | 'secretKey'>,
  folder: string,
  more: { readonly encryption?: Encryption; readonly isFull?: boolean; readonly signal?: AbortSignal } = {},
): Promise<BackupResult> {
  const { encryption = { kind: 'none' }, isFull = false, signal = new AbortController().signal } = more
  return makeBackup({
    databaseUrl: database.url,
    clock: systemClock,
    to: { folder },
    encryption,
    secretKey: encryption.kind === 'none' ? null : secretKey,
    isFull,
    share: 1,
    progress: silent,
    signal,
  })
}

/** The problems of the files of the newest backup, or of the one with this id, as sentences. */
export async function inspectFiles(
  folder: string,
  { id, keys = { identities: [] } }: { readonly id?: string; readonly keys?: DecryptionKeys | null } = {},
): Promise<readonly string[]> {
  const manifest = await findBackup(folder, id)
  return (await inspectBackup(folder, manifest, keys, silent)).problems
}

/** The rows of each table as text, without the tables and columns that differ after a restore. */
export async function tableContents(db: Db): Promise<Readonly<Record<string, readonly string[]>>> {
  const own = ['kysely_migration', 'kysely_migration_lock', 'backup_runs', 'backups', 'restores']
  const changed = ['held_at', 'held_reason', 'disabled_at', 'passed']
  const { rows: tables } = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() ORDER BY table_name`.execute(db)
  const contents: Record<string, readonly string[]> = {}
  for (const { name } of tables.filter(table => !own.includes(table.name))) {
    const { rows } = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(name)}`.execute(db)
    contents[name] = rows
      .map(row => Object.entries(row).filter(([column]) => !changed.includes(column)))
      .map(row => JSON.stringify(row.map(([, value]) => (Buffer.isBuffer(value) ? value.toString('base64') : value))))
      .sort()
  }
  return contents
}

/** The files below a folder as sorted relative paths. */
export function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(dirent => dirent.isFile())
    .map(dirent => join(dirent.parentPath, dirent.name).slice(folder.length + 1))
    .sort()
}

/** Flips one bit in the middle of a file. Returns a function that flips it back. */
export function flipBit(path: string): () => void {
  const flip = () => {
    const file = openSync(path, 'r+')
    const at = Math.floor(fstatSync(file).size / 2)
    const byte = Buffer.alloc(1)
    readSync(file, byte, 0, 1, at)
    writeSync(file, Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at)
    closeSync(file)
  }
  flip()
  return flip
}
