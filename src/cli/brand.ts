import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { findBrand } from '../accounts/brands/brands.ts'
import { systemClock, toIso } from '../base/clock.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { resumeBrand, selectPausedBrands } from '../sending/reports/pause-table.ts'
import { type Command, type CommandOutput, type Environment, readArguments, withDatabase } from './command.ts'
import { readBrandId } from './ids.ts'
import { currentOperator } from './operator.ts'

export const brandCommand: Command = {
  usage: `./mailroom brand paused [--json]
./mailroom brand resume ID [--json]

paused shows the brands whose sending is paused, and why: more than MAILROOM_PAUSE_BOUNCE_RATE of it bounced, or more than
  MAILROOM_PAUSE_COMPLAINT_RATE was complained of. What they had accepted waits; new sends are refused.
resume lets a brand send again. What it sent before counts no more.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'paused') return paused(args, env)
    if (verb === 'resume') return resume(args, env)
    throw new UsageError(`brand takes paused or resume, not "${verb ?? ''}"`)
  },
}

async function paused(args: readonly string[], env: Environment): Promise<CommandOutput> {
  readArguments(args, {})
  const rows = (await withDatabase(env, selectPausedBrands)).map(pausedBrand => ({
    id: pausedBrand.brandId,
    organization_id: pausedBrand.organizationId,
    name: pausedBrand.name,
    paused_at: pausedBrand.pausedAt && toIso(pausedBrand.pausedAt),
    reason: pausedBrand.reason,
  }))
  const lines = rows.map(row => `${row.id}  ${row.name}  paused ${row.paused_at}\n  ${row.reason}`)
  return { json: rows, text: lines.length > 0 ? lines.join('\n') : 'No brand is paused.' }
}

async function resume(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const [text = ''] = readArguments(args, { words: ['ID'] }).words
  const id = readBrandId(text)
  const wasPaused = await withDatabase(env, async db => {
    if (!(await findBrand(db, id))) throw new CommandError(`There is no brand ${id}.`)
    const wasPaused = await resumeBrand(db, id, systemClock.now())
    if (wasPaused) await recordAuditEntry(db, currentOperator(env), { action: 'brand.resume', subject: id })
    return wasPaused
  })
  return {
    json: { id, resumed: wasPaused },
    text: wasPaused ? `${id} sends again; what waits goes out within two minutes.` : `${id} is not paused.`,
  }
}
