import { isDatabaseTrouble } from '../../base/database/database.ts'
import { type Area, areas, type Check, type Parts } from './check.ts'
import { error, type Finding, type Level, skipped, warning } from './finding.ts'

/** What became of a check. */
export type Examined = Finding & { readonly name: string; readonly area: Area }

/** The check that tells of a database that cannot be asked; the others need not say it again. */
export const databaseCheck = 'connection'

/** Runs all checks at the same time, none longer than `longestMs`; the findings come by area. Never rejects. */
export async function examine(checks: readonly Check[], parts: Parts, longestMs: number): Promise<readonly Examined[]> {
  const examined = await Promise.all(checks.map(each => examineOne(each, parts, longestMs)))
  return areas.flatMap(area => examined.filter(each => each.area === area))
}

async function examineOne(check: Check, parts: Parts, longestMs: number): Promise<Examined> {
  const { name, area } = check
  let timer: Timer | undefined
  const late = new Promise<Finding>(resolve => {
    const seen = `there was no answer within ${longestMs / 1000} seconds`
    const todo = 'Try again; where it stays so, see what keeps this part of the machine or the network busy.'
    timer = setTimeout(() => resolve(warning(seen, todo)), longestMs)
  })
  const found = check.run(parts).catch((thrown: unknown) => thrownAs(thrown, name))
  const finding = await Promise.race([found, late])
  clearTimeout(timer)
  return { name, area, ...finding }
}

function thrownAs(thrown: unknown, name: string): Finding {
  const why = (thrown instanceof Error && thrown.message) || String(thrown)
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'ER_NO_SUCH_TABLE') return skipped('the tables are not made yet')
  if ((isDatabaseTrouble(thrown) || isShutOut(code)) && name !== databaseCheck)
    return skipped('the database cannot be asked')
  return error(
    `this could not be looked at: ${why}`,
    'See whether the account that runs Mailroom may do what this says, and run this command as that account.',
  )
}

/** The server lets us not in, or not to this database. */
function isShutOut(code: unknown): boolean {
  return typeof code === 'string' && /^ER_(DB)?ACCESS_DENIED|^ER_BAD_DB_ERROR$|^ENOTFOUND$|^EAI_AGAIN$/.test(code)
}

/** How many findings there are of each level. */
export function countLevels(examined: readonly Examined[]): Readonly<Record<Level, number>> {
  const counts = { error: 0, warning: 0, note: 0, ok: 0, skipped: 0 }
  for (const { level } of examined) counts[level]++
  return counts
}
