import { isDatabaseUnavailable } from '../../base/database/database.ts'
import { type CheckArea, checkAreas, type DoctorCheck, type DoctorDeps } from './check.ts'
import { error, type Finding, type FindingLevel, skipped, warning } from './finding.ts'

/** The finding of a check. */
export type DoctorResult = Finding & { readonly name: string; readonly area: CheckArea }

/** The check that reports an unavailable database; the others are skipped then. */
export const databaseCheckName = 'connection'

/** Runs checks at the same time, each for at most `timeoutMs`; gives the findings by area. Never rejects. */
export async function runChecks(
  checks: readonly DoctorCheck[],
  deps: DoctorDeps,
  timeoutMs: number,
): Promise<readonly DoctorResult[]> {
  const results = await Promise.all(checks.map(check => runCheck(check, deps, timeoutMs)))
  return checkAreas.flatMap(area => results.filter(result => result.area === area))
}

async function runCheck(check: DoctorCheck, deps: DoctorDeps, timeoutMs: number): Promise<DoctorResult> {
  const { name, area } = check
  let timer: Timer | undefined
  const timeout = new Promise<Finding>(resolve => {
    const seen = `there was no answer within ${timeoutMs / 1000} seconds`
    const todo = 'Try again. If it happens again, find out what slows down this part of the machine or the network.'
    timer = setTimeout(() => resolve(warning(seen, todo)), timeoutMs)
  })
  const found = check.run(deps).catch((thrown: unknown) => findingForError(thrown, name))
  const finding = await Promise.race([found, timeout])
  clearTimeout(timer)
  return { name, area, ...finding }
}

function findingForError(thrown: unknown, name: string): Finding {
  const why = (thrown instanceof Error && thrown.message) || String(thrown)
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'ER_NO_SUCH_TABLE') return skipped('the tables have not been created yet')
  if ((isDatabaseUnavailable(thrown) || isAccessDenied(code)) && name !== databaseCheckName)
    return skipped('the database is not available')
  return error(
    `the check failed: ${why}`,
    'Run this command as the account that runs Mailroom, and check that this account has the permissions that the message is about.',
  )
}

/** Does the server refuse the login or the database, or is its name unknown? */
function isAccessDenied(code: unknown): boolean {
  return typeof code === 'string' && /^ER_(DB)?ACCESS_DENIED|^ER_BAD_DB_ERROR$|^ENOTFOUND$|^EAI_AGAIN$/.test(code)
}

/** How many findings there are of each level. */
export function countByLevel(results: readonly DoctorResult[]): Readonly<Record<FindingLevel, number>> {
  const counts = { error: 0, warning: 0, note: 0, ok: 0, skipped: 0 }
  for (const { level } of results) counts[level]++
  return counts
}
