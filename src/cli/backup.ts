import { create } from './backup/create.ts'
import { list } from './backup/list.ts'
import { prune } from './backup/prune.ts'
import { verify } from './backup/verify.ts'
import { defineGroup } from './command.ts'
import { databaseNote } from './database.ts'

const notes = `${databaseNote} ./mailroom restore restores a backup.`

export const backupCommand = defineGroup('backup', notes, [create, verify, list, prune])
