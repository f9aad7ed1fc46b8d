import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { systemClock } from '../../base/clock.ts'
import { type Db, openDatabase } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import { selectRows } from '../../base/database/select-rows.ts'
import { type Id, newId } from '../../base/ids.ts'
import { openTextWorker } from '../../inbox/text-worker/text-worker.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure } from './figure.ts'
import { fillStore } from './fill-store.ts'
import { watchMemory } from './memory.ts'
import { runTask, startMailroom } from './processes.ts'

const messages = 100_000
const messageBytes = 5000
const connections = 32
const warmUp = 4000
const perRound = 2000
const roundsBefore = 6
const blobsPerStatement = 200

/** The output of a Mailroom command, its time and its peak memory. */
interface CommandResult {
  readonly output: Readonly<Record<string, number>>
  readonly seconds: number
  readonly peakBytes: number
}

/**
 * What a backup of 100,000 messages costs the mail that flows meanwhile: the rate of emails accepted over HTTP while it runs,
 * compared with the rate before and after it. Also how long the backup takes, its size, and how long its restore takes.
 */
export async function measureBackup(environment: BenchEnvironment): Promise<Figure[]> {
  await fillWithContent(environment)
  const mailroom = await startMailroom({ ...environment.env, MAILROOM_ROLES: 'http' })
  const post = {
    path: '/v1/emails',
    status: 202,
    idempotent: false,
    key: environment.key,
    fromDomain: environment.domain,
  }
  const load = { task: 'http-load', connections, port: mailroom.http ?? 0, ...post } as const
  const rateOf = async (count: number) => count / (await runTask<{ seconds: number }>({ ...load, count })).seconds
  await rateOf(warmUp)
  const around: number[] = []
  const meanwhile: number[] = []
  const measureAround = async () => {
    for (let round = 0; round < roundsBefore; round++) around.push(await rateOf(perRound))
  }
  await measureAround()
  const folder = join(environment.folder, 'backups')
  let isRunning = true
  const running = mailroomCommand(environment, ['backup', folder]).finally(() => {
    isRunning = false
  })
  while (isRunning) {
    const rate = await rateOf(perRound)
    if (isRunning || meanwhile.length === 0) meanwhile.push(rate)
  }
  const backup = await running
  await measureAround()
  await mailroom.stop()
  const verify = await mailroomCommand(environment, ['backup', 'verify', folder])
  rmSync(folder, { recursive: true, force: true })
  const measured = { rate: mean(meanwhile), limits: { 'without a backup': mean(around) }, peakBytes: backup.peakBytes }
  return [{ ...figure(`accept while ${messages} messages are backed up`, 0.8, measured), note: noteOf(backup, verify) }]
}

function noteOf({ output, seconds, peakBytes }: CommandResult, verify: CommandResult): string {
  const mib = (bytes = 0) => `${Math.round(bytes / 1024 / 1024)} MiB`
  return (
    `backup: ${seconds.toFixed(1)} s (tables read for ${output['snapshot_seconds']?.toFixed(1)} s), ${output['messages']} messages, ` +
    `${output['rows']} rows, ${output['blobs']} blobs, ${mib(output['bytes'])}; peak memory ${mib(peakBytes)}; ` +
    `restored for a trial and compared in ${verify.seconds.toFixed(1)} s, peak memory ${mib(verify.peakBytes)}`
  )
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Adds messages like those for the searches, each with content that is half text and half random. */
async function fillWithContent({ databaseUrl }: BenchEnvironment): Promise<void> {
  const { db, close } = openDatabase(databaseUrl, 4)
  const texts = openTextWorker({ timeoutMs: 120_000 })
  try {
    const tenant = { organizationId: newId('org'), brandId: newId('brd') }
    const startedAt = performance.now()
    await fillStore({ db, texts, tenants: [tenant, tenant], at: systemClock.now() }, 0, messages)
    await addContent(db, tenant.organizationId)
    const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM blobs`.execute(db)
    const seconds = (performance.now() - startedAt) / 1000
    process.stderr.write(`  ${rows[0]?.count} messages with their content, after ${seconds.toFixed()} s of filling\n`)
  } finally {
    texts.close()
    await close()
  }
}

async function addContent(db: Db, organizationId: Id<'org'>): Promise<void> {
  const text = Buffer.from('Hello there, this is text.\r\n'.repeat(messageBytes / 2 / 28))
  for (let after = ''; ; ) {
    const statement = `SELECT id AS message, blob_id AS id FROM messages WHERE id > ? ORDER BY id LIMIT ${blobsPerStatement}`
    const rows = await selectRows<{ message: string; id: Id<'blb'> }>(db, statement, [after])
    const contents = rows.map(({ id }) => ({ id, bytes: Buffer.concat([text, randomBytes(messageBytes / 2)]) }))
    const created_at = systemClock.now()
    const blobs = contents.map(({ id, bytes }) => ({
      id,
      organization_id: organizationId,
      sha256: createHash('sha256').update(bytes).digest(),
      size: bytes.length,
      complete: 1 as const,
      created_at,
    }))
    await insertRows(db, 'blobs', blobs)
    const chunks = contents.map(({ id, bytes }) => ({ blob_id: id, position: 0, bytes }))
    await insertRows(db, 'blob_chunks', chunks)
    if (rows.length < blobsPerStatement) return
    after = rows.at(-1)?.message ?? after
  }
}

async function mailroomCommand({ env }: BenchEnvironment, args: readonly string[]): Promise<CommandResult> {
  const startedAt = performance.now()
  const child = Bun.spawn([process.execPath, join(import.meta.dir, '..', 'cli.ts'), ...args, '--json'], {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const memory = watchMemory(child.pid)
  const [output] = await Promise.all([new Response(child.stdout).text(), child.exited])
  const peakBytes = memory.peakBytes()
  memory.stop()
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with status ${child.exitCode}: ${output}`)
  return { output: JSON.parse(output), seconds: (performance.now() - startedAt) / 1000, peakBytes }
}
