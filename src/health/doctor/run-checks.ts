import { isDatabaseUnavailable } from '../../base/database/database.ts'
import { type CheckArea, checkAreas, type DoctorCheck, type DoctorDeps } from './check.ts'
import { error, type Finding, type FindingLevel, skipped, warning } from './finding.ts'

/** What became of a check. */
export type DoctorResult = Finding & { readonly name: string; readonly area: CheckArea }

/** The check that tells of a database that cannot be asked; the others need not say it again. */
export const databaseCheckName = 'connection'

/** Runs all checks at the same time, none longer than `longestMs`; the findings come by area. Never rejects. */
export async function runChecks(
  checks: readonly DoctorCheck[],
  parts: DoctorDeps,
  longestMs: number,
): Promise<readonly DoctorResult[]> {
  const examined = await Promise.all(checks.map(check => runCheck(check, parts, longestMs)))
  return checkAreas.flatMap(area => examined.filter(doctorResult => doctorResult.area === area))
}

async function runCheck(check: DoctorCheck, parts: DoctorDeps, longestMs: number): Promise<DoctorResult> {
  const { name, area } = check
  let timer: Timer | undefined
  const late = new Promise<Finding>(resolve => {
    const seen = `there was no answer within ${longestMs / 1000} seconds`
    const todo = 'Try again; where it stays so, see what keeps this part of the machine or the network busy.'
    timer = setTimeout(() => resolve(warning(seen, todo)), longestMs)
  })
  const found = check.run(parts).catch((thrown: unknown) => findingForError(thrown, name))
  const finding = await Promise.race([found, late])
  clearTimeout(timer)
  return { name, area, ...finding }
}

function findingForError(thrown: unknown, name: string): Finding {
  const why = (thrown instanceof Error && thrown.message) || String(thrown)
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'ER_NO_SUCH_TABLE') return skipped('the tables are not made yet')
  if ((isDatabaseUnavailable(thrown) || isAccessDenied(code)) && name !== databaseCheckName)
    return skipped('the database cannot be asked')
  return error(
    `this could not be looked at: ${why}`,
    'See whether the account that runs Mailroom may do what this says, and run this command as that account.',
  )
}

/** The server lets us not in, or not to this database. */
function isAccessDenied(code: unknown): boolean {
  return typeof code === 'string' && /^ER_(DB)?ACCESS_DENIED|^ER_BAD_DB_ERROR$|^ENOTFOUND$|^EAI_AGAIN$/.test(code)
}

/** How many findings there are of each level. */
export function countByLevel(examined: readonly DoctorResult[]): Readonly<Record<FindingLevel, number>> {
  const counts = { error: 0, warning: 0, note: 0, ok: 0, skipped: 0 }
  for (const { level } of examined) counts[level]++
  return counts
}
