import { userInfo } from 'node:os'
import type { Operator } from '../accounts/audit/audit.ts'
import { systemClock } from '../base/clock.ts'
import type { Environment } from './command.ts'

/** Who runs this command, as the audit log names them: `ann`, or `root (ann)` by sudo. */
export function currentOperator(env: Environment): Operator {
  const user = userName()
  const behind = env['SUDO_USER']
  return { actor: behind && behind !== user ? `${user} (${behind})` : user, clock: systemClock }
}

/** A container may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
