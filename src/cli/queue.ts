import { defineGroup } from './command.ts'
import { databaseNote } from './database.ts'
import { cancel, hold, release, retry } from './queue/change.ts'
import { domains, list, show } from './queue/show.ts'

const notes = `The queue holds the accepted recipients that are not yet handed to the relay. retry, hold, release and cancel
take emails by id, or a selection (--org, --domain, --status; all given must match), or --all. They leave alone what a relay
process is submitting at that moment, and count it as in flight: a retry or cancel skips it, a hold applies after that
attempt.

${databaseNote}`

export const queueCommand = defineGroup('queue', notes, [list, domains, show, retry, hold, release, cancel])
