import { defineGroup } from './command.ts'
import { databaseNote } from './database.ts'
import { list } from './quarantine/list.ts'
import { release, remove } from './quarantine/release-delete.ts'
import { show } from './quarantine/show.ts'

const notes = `Quarantine holds the messages that the scanner found infected, and those that it could not scan. Each message
that is released or deleted gets an audit entry: ./mailroom audit list --subject MESSAGE.

${databaseNote}`

export const quarantineCommand = defineGroup('quarantine', notes, [list, show, release, remove])
