import { UsageError } from '../base/operator-error.ts'
import { retentionKindNames, retentionKinds } from '../retention/policies/kinds.ts'
import type { Command } from './command.ts'
import { runPlan } from './retention/plan.ts'
import { runSet, runShow } from './retention/policies.ts'
import { runRemoval } from './retention/run.ts'

export const retentionCommand: Command = {
  usage: `./mailroom retention show [--json]
./mailroom retention set [--org ID | --brand ID] KIND DAYS|forever|inherit [--json]
./mailroom retention plan [--json]
./mailroom retention run [--json]

What is stored is kept for so many days, each kind for its own:
${retentionKindNames.map(kind => `  ${kind.padEnd(12)} ${retentionKinds[kind]}`).join('\n')}
spam and trash are kept 30 days, quarantine 90, request_log MAILROOM_REQUEST_LOG_DAYS, and all else for ever, unless set.
  What is not sent yet is never touched, nor are drafts and templates.
show tells what is set.
set says how long a kind is kept: for a brand, for an organization (its brands, unless they have their own), or without
  --org and --brand for the instance. inherit takes back what was set. It holds from the next round on, within a minute.
plan changes nothing: it tells what would go now and within 30 days, and when the disk will be full.
run removes now what has had its time, instead of a little each minute, as serve does.
Space that gets free is used for what is stored next; the files of the database do not get smaller.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    switch (verb) {
      case 'show':
        return runShow(args, env)
      case 'set':
        return runSet(args, env)
      case 'plan':
        return runPlan(args, env)
      case 'run':
        return runRemoval(args, env)
      default:
        throw new UsageError(`retention takes show, set, plan or run, not "${verb ?? ''}"`)
    }
  },
}
