import { UsageError } from '../base/operator-error.ts'
import type { Command } from './command.ts'
import { runChange } from './queue/change.ts'
import { runDomains, runList, runShow } from './queue/show.ts'

export const queueCommand: Command = {
  usage: `./mailroom queue list [--org ID] [--domain D] [--status S] [--held] [--limit N] [--json]
./mailroom queue domains [--limit N] [--json]
./mailroom queue show EMAIL [--json]
./mailroom queue retry   EMAIL... | [--org ID] [--domain D] [--status S] | --all   [--dry-run] [--json]
./mailroom queue hold    EMAIL... | [--org ID] [--domain D] [--status S] | --all   [--reason TEXT] [--dry-run] [--json]
./mailroom queue release EMAIL... | [--org ID] [--domain D] [--status S] | --all   [--dry-run] [--json]
./mailroom queue cancel  EMAIL... | [--org ID] [--domain D] [--status S] | --all   [--dry-run] [--json]

The queue is what was accepted and not handed to the relay yet, recipient by recipient.
list shows it, what was accepted first at the top, with the next attempt and the last reply, and counts all of it.
domains shows to which domains most waits.
show tells all recipients of one email, those that are done as well.
retry makes the next attempt now instead of after its wait. What is held or scheduled stays so, and while the relay itself
  is in trouble one email at a time tries whether that is over, as always.
hold keeps what is in the queue now from being sent, until release. What is accepted later is not held. It gives no more
  time: an email is failed once its expires_in (at most 5 days) has run out, held or not, and its event then says that it
  was held; list shows when that is. --reason is for operators: list shows it, the API does not.
release lets it go: at once, or at the time that it is scheduled for.
cancel takes recipients off the queue: they become canceled, with an event that names the operator. Nothing undoes it.

Which ones: emails by id, or all to a domain (--domain, that of the recipient), of an organization, with a status
  (scheduled, queued, delayed), or --all. Where several are given all must hold.
While relays run, what one of them is submitting is left alone, and counted as in flight: a retry or cancel passes it over,
  a hold counts from the end of that attempt.
--dry-run changes nothing, and says what would be done. --limit is 100 unless you say otherwise.
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb = '', ...args], env) {
    switch (verb) {
      case 'list':
        return runList(args, env)
      case 'domains':
        return runDomains(args, env)
      case 'show':
        return runShow(args, env)
      case 'retry':
      case 'hold':
      case 'release':
      case 'cancel':
        return runChange(verb, args, env)
      default:
        throw new UsageError(`queue takes list, domains, show, retry, hold, release or cancel, not "${verb}"`)
    }
  },
}
