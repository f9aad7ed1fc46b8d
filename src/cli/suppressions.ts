import { defineGroup } from './command.ts'
import { databaseNote } from './database.ts'
import { exportList } from './suppressions/export.ts'
import { importFile } from './suppressions/import.ts'
import { undo } from './suppressions/undo.ts'

export const suppressionsCommand = defineGroup('suppressions', databaseNote, [importFile, exportList, undo])
