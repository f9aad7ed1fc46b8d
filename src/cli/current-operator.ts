import { userInfo } from 'node:os'
import type { Operator } from '../accounts/audit/audit.ts'
import { systemClock } from '../base/clock.ts'
import type { Environment } from './command.ts'

/** The user who runs this command, as the audit log names them: `ann`, or `root (ann)` with sudo. */
export function currentOperator(env: Environment): Operator {
  const user = userName()
  const sudoUser = env['SUDO_USER']
  return { actor: sudoUser && sudoUser !== user ? `${user} (${sudoUser})` : user, clock: systemClock }
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
