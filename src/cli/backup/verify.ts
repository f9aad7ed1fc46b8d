import { setPriority } from 'node:os'
import { withBackup } from '../../backup/files/open-backup.ts'
import { type DecryptionKeys, readIdentities } from '../../backup/format/encryption.ts'
import { type Manifest, manifestFiles } from '../../backup/format/manifest.ts'
import { progressOnStderr } from '../../backup/progress.ts'
import { inspectBackup } from '../../backup/restore/inspect.ts'
import { requireKnownVersion } from '../../backup/restore/restore.ts'
import { runTrialRestore } from '../../backup/restore/trial-restore.ts'
import { systemClock } from '../../base/clock.ts'
import { readConfig } from '../../base/config/config.ts'
import { updateRestoreTrial } from '../../base/database/backup-runs-table.ts'
import { isDatabaseUnavailable } from '../../base/database/database.ts'
import { UsageError } from '../../base/operator-error.ts'
import { type CommandOutput, type Environment, readArguments, withDatabase } from '../command.ts'

const niceness = 10

/** `backup verify DIR|-` */
export async function runVerify(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const { words, options, flags } = readArguments(args, {
    words: ['DIR'],
    options: ['id', 'identity', 'database-url'],
    flags: ['quick'],
  })
  const config = readConfig({ ...env, MAILROOM_ROLES: 'http' })
  const isQuick = flags.has('quick')
  const identities = options['identity'] === undefined ? [] : readIdentities(options['identity'])
  setPriority(niceness)
  const from = { id: options['id'], varFolder: config.varFolder }
  return await withBackup(words[0] ?? '', from, async (folder, manifest) => {
    const opening = requireOpening(manifest, identities, isQuick)
    const progress = progressOnStderr()
    const looked = await inspectBackup(folder, manifest, opening, progress)
    const wrong = [...looked.problems]
    const isTried = opening !== null && !isQuick && wrong.length === 0
    if (isTried) {
      requireKnownVersion(manifest)
      const live = { databaseUrl: config.databaseUrl, scratchUrl: options['database-url'], clock: systemClock }
      wrong.push(...(await runTrialRestore({ ...live, folder, manifest, opening, progress })))
    }
    const kind = wrong.length > 0 ? 'refuted' : isTried ? 'proven' : null
    const isRecorded = kind !== null && (await record(env, manifest.id, kind))
    return describeVerification(manifest, wrong, { isTried, isWholeLook: looked.isComplete, isRecorded })
  })
}

/** @throws UsageError where an encrypted backup is to be restored for a trial, and nothing opens it */
export function requireOpening(
  manifest: Manifest,
  identities: readonly string[],
  mayStayClosed: boolean,
): DecryptionKeys | null {
  const needsIdentity = manifestFiles(manifest).some(manifestFile => manifestFile.name.endsWith('.age'))
  if (!needsIdentity || identities.length > 0) return { identities }
  if (mayStayClosed) return null
  throw new UsageError('--identity is absent: the backup is encrypted with age')
}

/** Was the backup one of the live database's? */
async function record(env: Environment, id: string, kind: 'proven' | 'refuted'): Promise<boolean> {
  try {
    return await withDatabase(env, db => updateRestoreTrial(db, id, kind, systemClock.now()))
  } catch (error) {
    if (isDatabaseUnavailable(error)) return false
    throw error
  }
}

interface VerificationScope {
  readonly isTried: boolean
  readonly isWholeLook: boolean
  readonly isRecorded: boolean
}

function describeVerification(
  manifest: Manifest,
  wrong: readonly string[],
  { isTried, isWholeLook, isRecorded }: VerificationScope,
): CommandOutput {
  const { id, tables, blobs, taken_at, damaged_blobs } = manifest
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const json = {
    id,
    taken_at,
    whole: wrong.length === 0,
    restored: isTried,
    recorded: isRecorded,
    rows,
    blobs,
    damages: wrong,
    damaged_before: damaged_blobs,
  }
  if (wrong.length > 0)
    return { json, status: 1, text: [`The backup ${id} is damaged:`, ...wrong.map(value => `  ${value}`)].join('\n') }
  const did = isTried
    ? `was restored for a trial and is whole: ${rows} rows and ${blobs} blobs, each with the bytes of its hash.`
    : isWholeLook
      ? `has all its files, each as it was written, with ${rows} rows and ${blobs} blobs. It was not restored.`
      : 'has all its files, each as it was written. What is encrypted was not opened: that takes --identity.'
  const remark =
    isTried && !isRecorded
      ? '\nThe database of MAILROOM_DATABASE_URL does not know this backup: the trial is not recorded.'
      : ''
  return { json, text: `The backup ${id} ${did}${lostBefore(manifest)}${remark}` }
}

function lostBefore({ damaged_blobs }: Manifest): string {
  if (damaged_blobs.length === 0) return ''
  return `\nThese blobs were damaged in the database already when it was made: ${damaged_blobs.join(', ')}`
}
