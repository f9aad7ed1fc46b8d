import { fromIso, type Instant } from '../base/clock.ts'
import { type Undone, undoSuppressions } from '../sending/suppressions/undo.ts'
import type { Incident } from '../sending/suppressions/undo-table.ts'
import { type Command, type Environment, onDatabase, readArgs, type Told } from './command.ts'
import { readOrganization, requireOrganization } from './ids.ts'
import { UsageTrouble } from './trouble.ts'

export const suppressions: Command = {
  usage: `./mailroom suppressions undo [--reply TEXT] [--provider NAME] [--from TIME --to TIME] [--org ID] [--dry-run] [--json]

undo takes the suppressions that came by themselves, of bounces and complaints, off the lists again, for when they were
  wrong: a relay that answered 550 5.1.1 for everyone, a provider that reported what did not happen. What people put
  there stays, and so does that someone unsubscribed. It prints each address that it let go and what had caused it.
  --reply TEXT      those whose reply or report holds this text, in any case
  --provider NAME   those of emails that this provider delivered
  --from, --to      those made from a time, such as 2027-01-31T08:00:00Z, up to another
  Of these at least one; where several are given all must hold.
  --org ID          of one organization; without it of all
  --dry-run         change nothing, and say what would be undone
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'undo') return undo(args, env)
    throw new UsageTrouble(`suppressions takes undo, not "${verb ?? ''}"`)
  },
}

async function undo(args: readonly string[], env: Environment): Promise<Told> {
  const { options, flags } = readArgs(args, {
    options: ['reply', 'provider', 'from', 'to', 'org'],
    flags: ['dry-run'],
  })
  const incident = readIncident(options)
  const isDry = flags.has('dry-run')
  const undone = await onDatabase(env, async db => {
    if (incident.organizationId !== undefined) await requireOrganization(db, incident.organizationId)
    return Array.fromAsync(undoSuppressions(db, incident, isDry))
  })
  const brands = countBrands(undone)
  return {
    json: { dry_run: isDry, count: undone.length, brands, undone },
    text: [
      ...undone.map(line),
      ...brands.map(each => `${each.brand_id}  ${each.hard_bounce} hard bounces, ${each.complaint} complaints`),
      `${isDry ? 'Would undo' : 'Undid'} ${undone.length} ${undone.length === 1 ? 'suppression' : 'suppressions'}.`,
    ].join('\n'),
  }
}

function readIncident(options: Readonly<Record<string, string | undefined>>): Incident {
  const { reply, provider, org } = options
  const from = readTime(options, 'from')
  const to = readTime(options, 'to')
  if ((from === undefined) !== (to === undefined)) throw new UsageTrouble('--from and --to go together; one is absent')
  if (from !== undefined && to !== undefined && from >= to) throw new UsageTrouble('--from is not before --to')
  if (reply?.trim() === '' || provider?.trim() === '') throw new UsageTrouble('--reply and --provider take some text')
  if (reply === undefined && provider === undefined && from === undefined)
    throw new UsageTrouble('say which ones: --reply, --provider, or --from and --to')
  return {
    ...(reply !== undefined && { reply }),
    ...(provider !== undefined && { provider }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(org !== undefined && { organizationId: readOrganization(org) }),
  }
}

function readTime(options: Readonly<Record<string, string | undefined>>, name: 'from' | 'to'): Instant | undefined {
  const text = options[name]
  if (text === undefined) return undefined
  const at = fromIso(text)
  if (!at) throw new UsageTrouble(`--${name}: "${text}" is not a time such as 2027-01-31T00:00:00Z`)
  return at
}

function countBrands(undone: readonly Undone[]) {
  return Array.from(
    Map.groupBy(undone, each => each.brand_id),
    ([brand_id, of]) => ({
      brand_id,
      hard_bounce: of.filter(each => each.reason === 'hard_bounce').length,
      complaint: of.filter(each => each.reason === 'complaint').length,
    }),
  )
}

function line({ brand_id, email, reason, evidence, suppressed_at, stays_unsubscribed }: Undone): string {
  const rest = stays_unsubscribed ? ' (stays unsubscribed)' : ''
  return `${brand_id}  ${email}  ${reason} ${suppressed_at}: ${evidence ?? 'no evidence'}${rest}`
}
