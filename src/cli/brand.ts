import { toIso } from '../base/clock.ts'
import { CommandError } from '../base/operator-error.ts'
import { resumeBrandByOperator } from '../sending/reports/pause.ts'
import { selectPausedBrands } from '../sending/reports/pause-table.ts'
import { defineCommand, defineGroup } from './command.ts'
import { currentOperator } from './current-operator.ts'
import { databaseNote, withDatabase } from './database.ts'
import { brandId } from './values.ts'

const paused = defineCommand({
  name: 'brand paused',
  summary: 'List the brands whose sending is paused, and why',
  details: `A brand is paused when its bounce rate passes MAILROOM_PAUSE_BOUNCE_RATE or its complaint rate passes
MAILROOM_PAUSE_COMPLAINT_RATE. Its accepted emails wait in the queue; new sends are refused.`,
  async run(_values, { env }) {
    const brands = (await withDatabase(env, selectPausedBrands)).map(brand => ({
      id: brand.brandId,
      organization_id: brand.organizationId,
      name: brand.name,
      paused_at: brand.pausedAt && toIso(brand.pausedAt),
      reason: brand.reason,
    }))
    const lines = brands.map(brand => `${brand.id}  ${brand.name}  paused ${brand.paused_at}\n  ${brand.reason}`)
    return { json: brands, text: lines.join('\n') || 'No brand is paused.' }
  },
})

const resume = defineCommand({
  name: 'brand resume',
  summary: 'Let a paused brand send again',
  details: 'Emails sent before the resume no longer count for its bounce and complaint rates.',
  arguments: { id: brandId },
  async run({ id }, { env }) {
    const wasPaused = await withDatabase(env, db => resumeBrandByOperator(db, currentOperator(env), id))
    if (wasPaused === undefined) throw new CommandError(`There is no brand ${id}.`)
    return {
      json: { id, resumed: wasPaused },
      text: wasPaused ? `${id} sends again; its waiting emails go out within two minutes.` : `${id} is not paused.`,
    }
  },
})

export const brandCommand = defineGroup('brand', databaseNote, [paused, resume])
