import { recordDeed } from '../accounts/audit/audit.ts'
import { findBrand } from '../accounts/brands/brands.ts'
import { systemClock, toIso } from '../base/clock.ts'
import { CommandTrouble, UsageTrouble } from '../base/operator-error.ts'
import { pausedBrands, resumeBrand } from '../sending/reports/pause-table.ts'
import { type Command, type Environment, onDatabase, readArgs, type Told } from './command.ts'
import { readBrand } from './ids.ts'
import { theOperator } from './operator.ts'

export const brand: Command = {
  usage: `./mailroom brand paused [--json]
./mailroom brand resume ID [--json]

paused shows the brands whose sending is paused, and why: more than MAILROOM_PAUSE_BOUNCE_RATE of it bounced, or more than
  MAILROOM_PAUSE_COMPLAINT_RATE was complained of. What they had accepted waits; new sends are refused.
resume lets a brand send again. What it sent before counts no more.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'paused') return paused(args, env)
    if (verb === 'resume') return resume(args, env)
    throw new UsageTrouble(`brand takes paused or resume, not "${verb ?? ''}"`)
  },
}

async function paused(args: readonly string[], env: Environment): Promise<Told> {
  readArgs(args, {})
  const rows = (await onDatabase(env, pausedBrands)).map(each => ({
    id: each.brandId,
    organization_id: each.organizationId,
    name: each.name,
    paused_at: each.pausedAt && toIso(each.pausedAt),
    reason: each.reason,
  }))
  const lines = rows.map(each => `${each.id}  ${each.name}  paused ${each.paused_at}\n  ${each.reason}`)
  return { json: rows, text: lines.length > 0 ? lines.join('\n') : 'No brand is paused.' }
}

async function resume(args: readonly string[], env: Environment): Promise<Told> {
  const [text = ''] = readArgs(args, { words: ['ID'] }).words
  const id = readBrand(text)
  const wasPaused = await onDatabase(env, async db => {
    if (!(await findBrand(db, id))) throw new CommandTrouble(`There is no brand ${id}.`)
    const wasPaused = await resumeBrand(db, id, systemClock.now())
    if (wasPaused) await recordDeed(db, theOperator(env), { action: 'brand.resume', subject: id })
    return wasPaused
  })
  return {
    json: { id, resumed: wasPaused },
    text: wasPaused ? `${id} sends again; what waits goes out within two minutes.` : `${id} is not paused.`,
  }
}
