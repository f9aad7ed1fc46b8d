import { defineGroup } from './command.ts'
import { databaseNote } from './database.ts'
import { release, remove, rescan } from './quarantine/change.ts'
import { list } from './quarantine/list.ts'
import { show } from './quarantine/show.ts'

const notes = `Quarantine holds the messages that the scanner found infected, and those that it could not scan. Each message
that is released, deleted or scanned again gets an audit entry: ./mailroom audit list --subject MESSAGE.

${databaseNote}`

export const quarantineCommand = defineGroup('quarantine', notes, [list, show, release, remove, rescan])
